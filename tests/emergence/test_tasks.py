"""The samplers: layout, statistics, and what the same seed gives."""

import pytest
import torch

from asserts import refused
from draws import normal, stream
from emergence import tasks
from oracles import elementwise as oracle

SAMPLERS = [tasks.gaussian_pairs, tasks.orthonormal_pairs]


def parts(batch):
    """Items, labels and positions, read out of a batch where Eq. 3 puts them."""
    dim = batch.target.shape[-1]
    pairs = batch.inputs[:, :-1]
    return pairs[:, ::2, :dim], pairs[:, 1::2, :dim], pairs[:, ::2, dim:]


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_drawn_raises():
    for sampler in SAMPLERS:
        refused(ValueError, "even", sampler, 4, 2, 7, generator=stream())
        refused(ValueError, "even", sampler, 4, 2, 0, generator=stream())
        refused(ValueError, "one sequence", sampler, 0, 2, 8, generator=stream())
        refused(ValueError, "one pair", sampler, 4, 0, 8, generator=stream())
        refused(ValueError, "query must be", sampler, 4, 2, 8, generator=stream(), query="first")
        refused(ValueError, "6 pairs cannot", sampler, 1, 6, 12, generator=stream(), copies=0)
        refused(ValueError, "6 pairs cannot", sampler, 1, 6, 12, generator=stream(), copies=4)
    refused(ValueError, "D >= 2N", tasks.orthonormal_pairs, 1, 5, 8, generator=stream())
    refused(ValueError, "distinct tokens", tasks.token_pairs, 4, 3, 5, 20, generator=stream())
    refused(ValueError, "a block of 7", tasks.token_pairs, 4, 3, 8, 6, generator=stream())
    refused(ValueError, "one sequence", tasks.token_pairs, 0, 3, 8, 7, generator=stream())
    refused(ValueError, "one pair", tasks.token_pairs, 4, 0, 8, 7, generator=stream())


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("query", ["uniform", "last"])
def test_layout_is_that_of_equations_3_and_4(sampler, query):
    batch = sampler(8, 3, 6, generator=stream(), query=query)
    items, labels, positions = (part.numpy() for part in parts(batch))
    for i, q in enumerate(batch.query.tolist()):
        x, y = oracle.inputs_of(items[i], labels[i], positions[i], q)
        assert (batch.inputs[i].numpy() == x).all()
        assert (batch.target[i].numpy() == y).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_copies_come_in_turn_at_places_of_their_own(sampler):
    batch = sampler(40, 6, 12, generator=stream(), query="uniform", copies=3)
    items, labels, positions = parts(batch)
    for values in (items, labels):
        assert torch.equal(values[:, :2], values[:, 2:4])
        assert torch.equal(values[:, :2], values[:, 4:])
        assert not torch.equal(values[:, 0], values[:, 1])
    assert torch.linalg.matrix_rank(positions).eq(6).all()
    assert set(batch.query.tolist()) == {0, 1}
    chosen = torch.arange(40), batch.query
    assert torch.equal(batch.inputs[:, -1, :12], items[chosen])
    assert torch.equal(batch.target, labels[chosen])


def test_swap_halves_multiplies_by_m():
    rows = normal(stream(), 3, 8)
    assert (tasks.swap_halves(rows).numpy() == rows.numpy() @ oracle.swap_matrix(8)).all()


def test_gaussian_moments():
    """Mean, covariance and fourth moment within 5 standard errors of N(0, I)."""
    n = 20_000
    batch = tasks.gaussian_pairs(n, 2, 4, generator=stream())
    values = torch.cat([part.flatten(1) for part in parts(batch)], dim=1)  # (n, 24)
    identity = torch.eye(24, dtype=torch.float64)
    assert values.mean(dim=0).abs().max() < 5 * n**-0.5
    covariance = values.T @ values / n
    assert torch.all((covariance - identity).abs() < 5 * ((1 + identity) / n).sqrt())
    assert ((values**4).mean(dim=0) - 3).abs().max() < 5 * (96 / n) ** 0.5
    n, n_pairs = 4000, 5
    uniform = tasks.gaussian_pairs(n, n_pairs, 2, generator=stream()).query
    share = uniform.bincount(minlength=n_pairs) / n
    assert (share - 1 / n_pairs).abs().max() < 5 * (0.2 * 0.8 / n) ** 0.5
    last = tasks.gaussian_pairs(n, n_pairs, 2, generator=stream(), query="last").query
    assert torch.all(last == n_pairs - 1)


@pytest.mark.parametrize(("n_pairs", "dim"), [(1, 2), (2, 8), (4, 8), (3, 20)])
def test_orthonormal_inputs_satisfy_assumption_7(n_pairs, dim):
    batch = tasks.orthonormal_pairs(5, n_pairs, dim, generator=stream())
    items, labels, positions = parts(batch)
    m = torch.from_numpy(oracle.swap_matrix(dim))
    for rows in (torch.cat([items, labels], dim=1), torch.cat([positions, positions @ m], dim=1)):
        assert (rows @ rows.mT - torch.eye(2 * n_pairs)).abs().max() < 1e-13


@pytest.mark.parametrize("n_pairs", [1, 2])
def test_orthonormal_inputs_are_isotropic(n_pairs):
    """No direction is preferred: mean 0 and covariance I/D, and fourth moments are below 3/D^2."""
    n, dim = 20_000, 4
    batch = tasks.orthonormal_pairs(n, n_pairs, dim, generator=stream())
    values = torch.cat([part.flatten(1) for part in parts(batch)], dim=1)
    assert values.mean(dim=0).abs().max() < 5 * (n * dim) ** -0.5
    covariance = values.T @ values / n
    assert (covariance - torch.eye(values.shape[1]) / dim).abs().max() < 5 * (3 / n) ** 0.5 / dim


def test_token_pairs_pose_the_task_uniformly():
    batch = tasks.token_pairs(500, 3, 8, 12, generator=stream())
    pairs, query = batch.tokens[:, :-1], batch.tokens[:, -1:]
    assert torch.all(pairs.sort(dim=1).values.diff(dim=1) > 0)
    asked_item = pairs[:, ::2] == query
    assert torch.all(asked_item.sum(dim=1) == 1)
    assert torch.equal(pairs[:, 1::2][asked_item], batch.target)
    assert torch.all(batch.positions.diff(dim=1) == 1)
    assert batch.positions[:, 0].unique().tolist() == list(range(12 - 7 + 1))
    assert batch.positions.max() == 11
    n, vocabulary = 8000, 6
    batch = tasks.token_pairs(n, 2, vocabulary, 9, generator=stream())
    for column in [*batch.tokens.T, batch.target]:
        share = column.bincount(minlength=vocabulary) / n
        assert (share - 1 / vocabulary).abs().max() < 5 * (5 / 36 / n) ** 0.5
    share = (batch.tokens[:, 0] == batch.tokens[:, -1]).double().mean()
    assert abs(share - 0.5) < 5 * (0.25 / n) ** 0.5


@pytest.mark.parametrize(
    "draw",
    [
        lambda g: tasks.gaussian_pairs(3, 2, 4, generator=g),
        lambda g: tasks.orthonormal_pairs(3, 2, 4, generator=g),
        lambda g: tasks.token_pairs(3, 2, 30, 9, generator=g),
    ],
)
def test_seeds_alone_decide(draw):
    before = torch.get_rng_state()
    generator = stream(1)
    first, second = draw(generator), draw(generator)
    assert all(torch.equal(x, y) for x, y in zip(first, draw(stream(1)), strict=True))
    assert not torch.equal(first[0], second[0])
    assert not torch.equal(first[0], draw(stream(2))[0])
    assert torch.equal(before, torch.get_rng_state())
