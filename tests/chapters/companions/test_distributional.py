"""The network by hand, the noisy sampler, readings, and the toy of one step of descent."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.distributional import Recipe, model, toy, training
from oracles.birth_counts import COUNTS

WHAT = model.make(COUNTS)
TRIGGER = int(WHAT.triggers[0])
TINY = replace(
    Recipe(), length=24, dim=32, width=64, batch_size=16, steps=60, every=30, n_tested=32,
    precision="float32",
)  # fmt: skip
TINIEST = replace(TINY, dim=16, width=32, batch_size=8, steps=4, every=4, n_tested=8)
CPU = torch.device("cpu")


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(length=12):
    result = model.draw(65, length, 16, 24, generator=stream()).cast(torch.float64)
    return result._replace(u=result.u.double(), first=result.first._replace(k=5 * result.first.k))


def test_logits_by_hand(close):
    """One sequence, row by row, as the source's code reads."""
    network = drawn()
    z = torch.tensor([5, 1, 9, 1, 2])
    x = network.e[z] + network.p[:5]
    for layer in (network.first, network.last):
        keys, rows = x @ layer.k.T, []
        for s in range(5):
            pattern = (keys[: s + 1] @ x[s] / 16**0.5).softmax(0)
            output = x[s] + layer.o @ (layer.v @ (pattern @ x[: s + 1]))
            rows.append(output + layer.w_out @ (layer.w_in @ output).clamp(min=0))
        x = torch.stack(rows)
    at, real = torch.tensor([[1, 3, 4]]), torch.tensor([[True, False, True]])
    close(model.logits(network, z[None], at, real), (x @ network.u.T)[[1, 4]], 1e-10)


def test_kept_is_the_nearest_of_its_rank(close):
    w = torch.randn(6, 10, generator=stream(), dtype=torch.float64)
    network = drawn()
    network = network._replace(last=network.last._replace(w_in=w))
    whole, nothing, half, less = (
        model.truncated(network, "last", "w_in", share).last.w_in for share in (1.0, 0.0, 0.5, 0.49)
    )
    close(whole, w, 1e-10)
    assert not nothing.any()
    assert torch.linalg.matrix_rank(half) == 3
    lost = torch.linalg.eigvalsh(w @ w.T)[:3].sum()  # Eckart and Young
    close((w - half).square().sum(), lost, 1e-10)
    assert torch.linalg.matrix_rank(less) == 2  # rounded down, as in the code


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_what_follows_the_trigger(alpha):
    batch = model.sample(WHAT, 600, 60, alpha, generator=stream())
    here = batch.tokens == TRIGGER
    outputs = batch.outputs[:, None].expand_as(batch.targets)
    ordinary = here & (outputs != model.NOISE)
    noisy = batch.targets == model.NOISE
    assert noisy[ordinary].double().mean().item() == pytest.approx(alpha, abs=0.02)
    assert (batch.targets == outputs)[here & ~noisy].all()
    assert (batch.tokens[:, 1:] == batch.targets[:, :-1]).all()
    assert len(batch.outputs.unique()) == 65


@pytest.mark.parametrize("token", [model.NOISE, int(COUNTS.most_frequent(2)[1])])
def test_other_tokens_and_noise_follow_the_chain(token):
    batch = model.sample(WHAT, 3000, 60, 0.5, generator=stream())
    after = batch.targets[batch.tokens == token]
    result = np.bincount(after.numpy(), minlength=65) / len(after)
    assert np.abs(result - COUNTS.conditional[token]).max() < 0.02


def test_scored_positions_by_hand():
    q, noise, o = TRIGGER, model.NOISE, 7
    z = torch.tensor([[q, noise, q, o, q, noise, 3, q, o]])
    batch = model.Batch(z[:, :-1], z[:, 1:], torch.tensor([o]))
    assert training.Tested.of(batch, q).at.tolist() == [[2, 4, 7]]


def looks(z, o, pattern, real):
    batch = model.Batch(torch.tensor([z[:-1]]), torch.tensor([z[1:]]), torch.tensor([o]))
    result = model.looks(torch.tensor([pattern]), batch, torch.tensor([real]), TRIGGER)
    return [value.item() for value in result]


def test_looks_by_hand():
    """Where o is the noise token, all of the mass counts as noise."""
    z = [7, TRIGGER, model.NOISE, TRIGGER, 7, model.NOISE, TRIGGER, 0]
    pattern = [[0.1, 0, 0.2, 0, 0.3, 0.4, 0], [1.0, 0, 0, 0, 0, 0, 0]]
    assert looks(z, 7, pattern, [True, False]) == pytest.approx([0.3, 0.2])
    z = [TRIGGER, model.NOISE, TRIGGER, model.NOISE]
    assert looks(z, model.NOISE, [[0.0, 0.7, 0.3]], [True]) == pytest.approx([0, 0.7])


@pytest.fixture
def own():
    """A small model as it was drawn."""
    return model.draw(65, 24, 16, 32, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def probe():
    """Sequences to probe it with."""
    return training.probe(TINIEST, COUNTS, 0, CPU)


def test_a_reading_is_that_of_models_made_one_by_one(own, probe):
    result = training.followed(own, probe)
    table = training.table(own, probe, TINIEST.shares)
    assert result[:3] == pytest.approx([float(value) for value in probe.answers(own)])
    for place, (layer, matrix, share) in enumerate(training.FOLLOWED, start=1):
        cut = model.truncated(own, layer, matrix, share)
        wanted = [
            model.shares(model.logits(cut, batch.batch.tokens, batch.at, batch.real), batch.targets)
            for batch in (probe.noisy, probe.clean)
        ]
        reading = [float(wanted[0][0]), *map(float, wanted[1])]
        assert result[3 * place : 3 * place + 3] == pytest.approx(reading, abs=1e-6)
        assert table[f"{layer}.{matrix}.{share:g}"] == pytest.approx(reading, abs=1e-6)
    assert len(result) == 3 * (1 + len(training.FOLLOWED)) + 2
    assert len(table) == 2 * 4 * len(TINIEST.shares)


@pytest.mark.parametrize("layer", ["feed-forward", "attention"])
def test_integers_are_the_logits_of_one_step(layer, close):
    n, length, count = 7, 3, 20
    contexts, targets = toy.sample(n, length, 0.5, 1, count, generator=stream())
    tested = torch.tensor([[2, 5, 2]])
    one_hot = torch.eye(n + 1, dtype=torch.float64)  # the last is the trigger, as an input
    means = one_hot[contexts[0]].mean(dim=1)
    query = one_hot[tested[0]].mean(dim=0)
    if layer == "feed-forward":
        means, query = one_hot[-1].expand(count, -1), one_hot[-1]
    w = torch.zeros(n + 1, n + 1, dtype=torch.float64, requires_grad=True)
    torch.nn.functional.cross_entropy(means @ w.T, targets[0]).backward()
    logits = -w.grad @ query
    shared = toy.overlaps(contexts, tested, n)[0] if layer == "attention" else torch.ones(count)
    scale = length**2 if layer == "attention" else 1
    counted = torch.zeros(n + 1, dtype=torch.float64).scatter_add_(0, targets[0], shared.double())
    close(logits - logits[0], (counted - counted[0]) / (scale * count))


def test_sampler_statistics():
    n, length, alpha = 11, 4, 0.3
    contexts, targets = toy.sample(n, length, alpha, 50, 800, generator=stream())
    noisy = targets == n
    assert noisy.double().mean().item() == pytest.approx(alpha, abs=0.01)
    shown = (contexts == targets[..., None]).any(dim=-1)
    assert shown[~noisy].all()
    assert contexts.max() == n - 1


@pytest.mark.parametrize("alpha", [0.25, 0.5])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_feed_forward_limit_by_enumeration(count, alpha):
    total = 0.0
    for noisy in itertools.product([True, False], repeat=count):
        others = 1 if not all(noisy) else 0  # targets other than noise never repeat
        chance = math.prod(alpha if is_noisy else 1 - alpha for is_noisy in noisy)
        total += chance * (sum(noisy) > others)
    assert toy.limit_feed_forward(count, alpha) == pytest.approx(total)


def test_attention_limit_by_poisson_draws():
    nu, length, alpha, trials = 0.2, 3, 0.4, 400_000
    draw = stream()

    def poisson(mean, *shape):
        return torch.poisson(torch.full(shape, mean, dtype=torch.float64), generator=draw)

    noise = poisson(alpha * nu * length**2, trials)
    same = poisson((1 - alpha) * nu, trials, length).amax(dim=1)
    other = poisson((1 - alpha) * nu * length * (length - 1), trials).clamp(max=1)
    share = (noise > torch.maximum(same, other)).double().mean().item()
    assert toy.limit_attention(nu, length, alpha) == pytest.approx(share, abs=0.004)


def test_needed_interpolates_and_says_when_it_cannot():
    counts = torch.tensor([1, 4, 16])
    shares = torch.tensor([0.0, 0.8, 1.0], dtype=torch.float64)
    assert toy.needed(counts, shares, 0.9) == pytest.approx(8)
    assert toy.needed(counts[1:], shares[1:], 0.5) == 4
    with pytest.raises(ValueError, match="not reached"):
        toy.needed(counts, shares / 2, 0.9)
