"""The construction on all small contexts, waits that are read, and how hard hidden ones are."""

from itertools import permutations, product

import numpy as np
import pytest
import torch

from chapters.companions import k_hop
from chapters.companions.k_hop import Cell, RightAnswers


def by_hand(functions, x, hops):
    """f_hops(... f_1(x)), in plain Python."""
    for f in functions[:hops]:
        x = f[x]
    return x


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 3), (3, 2), (4, 2), (5, 2)])
def test_no_error_on_any_context(k, n):
    maps = list(product(range(n), repeat=n))
    functions = torch.tensor(list(product(maps, repeat=k)))
    result = k_hop.compose(functions, k_hop.enough_layers(k))
    assert (result.place[-1] == k + 1).all()
    expected = [[by_hand(f, x, k) for x in range(n)] for f in functions.tolist()]
    assert result.value[-1].tolist() == expected
    assert k_hop.composed(functions).tolist() == expected


@pytest.mark.parametrize("k", [1, 3, 8, 13])
def test_each_layer_doubles_the_level(k):
    stream = torch.Generator().manual_seed(k)
    functions = k_hop.random_functions(5, k, 3, generator=stream)
    result = k_hop.compose(functions, 4)
    for t in range(5):
        level = min(2**t, k + 1)
        assert (result.place[t] == level).all()
        expected = [[by_hand(f, x, level - 1) for x in range(3)] for f in functions.tolist()]
        assert result.value[t].tolist() == expected


MADE = RightAnswers(
    Cell(2, ((1, 2),), 30, n_seeds=2, n_hops=2, test_size=1),
    np.array([0, 10, 20]),
    np.array([[[1, 0], [2, 1], [3, 2]], [[1, 0], [1, 3], [1, 3]]]),
)


def test_times_are_those_of_the_last_hop_and_a_censored_one_counts_as_its_limit():
    assert MADE.learned(1).tolist() == [10, np.inf]
    assert MADE.learned(2).tolist() == [20, 10]
    assert MADE.waits.tolist() == [20, np.inf]
    assert k_hop.waits_in_words(MADE) == "20, > 20"
    assert k_hop.median_wait(MADE) == 20


def agreements(hidden, other):
    """On how many questions two tuples agree, in plain Python."""
    n, k = len(hidden[0]), len(hidden)
    same = 0
    for given in product(permutations(range(n)), repeat=k):
        for x in range(n):
            ends = []
            for tuple_ in (hidden, other):
                value = x
                for p, s in zip(tuple_, given, strict=True):
                    value = s[p[value]]
                ends.append(value)
            same += ends[0] == ends[1]
    return same


@pytest.mark.parametrize(
    ("hidden", "other"),
    [
        (((0, 1, 2),), ((1, 0, 2),)),
        (((0, 1, 2), (2, 1, 0)), ((1, 2, 0), (2, 0, 1))),
        (((0, 1, 2, 3), (2, 1, 0, 3)), ((0, 1, 2, 3), (2, 1, 3, 0))),
    ],
)
def test_agreements_as_agreements(hidden, other):
    n, k = len(hidden[0]), len(hidden)
    every = k_hop.tuples(n, k)
    first, second = ((every == each).all(axis=(1, 2)).argmax() for each in (hidden, other))
    counts = k_hop.formula(n, k)[first, second], k_hop.agreeing(n, k)[first, second]
    assert counts == (agreements(hidden, other),) * 2


def test_shares_of_gradients_as_by_autograd():
    """The variance over hidden tuples of the gradient of the cross-entropy, by brute force."""
    n, k, width = 3, 1, 4
    shares = k_hop.gradient_shares(n, k, width, generator=torch.Generator().manual_seed(0))
    stream = torch.Generator().manual_seed(0)
    given, right = k_hop.tuples(n, k), torch.from_numpy(k_hop.answers(n, k))
    context = torch.nn.functional.one_hot(torch.from_numpy(given), n).flatten(1).double()
    inputs = torch.cat(
        [context.repeat_interleave(n, 0), torch.eye(n).double().repeat(len(given), 1)], dim=1
    )
    first = torch.randn(inputs.shape[1], width, generator=stream, dtype=torch.float64)
    second = torch.randn(width, n, generator=stream, dtype=torch.float64) / width**0.5
    second.requires_grad_()
    inner = (inputs @ first / inputs.shape[1] ** 0.5).relu()
    losses = [torch.nn.functional.cross_entropy(inner @ second, target) for target in right]
    gradients = torch.stack([torch.autograd.grad(loss, second)[0] for loss in losses])
    allowed = k_hop.bound(n, k) * inner.square().mean(0)[:, None]
    expected = gradients.var(0, correction=0) / allowed
    assert shares[: width * n] == pytest.approx(expected.detach().flatten().numpy(), rel=1e-9)
    assert shares.max() <= 1
