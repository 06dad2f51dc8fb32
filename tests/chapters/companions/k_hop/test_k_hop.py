"""The construction on all small contexts, and the stored record."""

from itertools import product

import numpy as np
import pytest
import torch

from chapters.companions.k_hop import construction, phases
from chapters.companions.k_hop.phases import Cell, RightAnswers


def by_hand(functions, x, hops):
    """f_hops(... f_1(x)), in plain Python."""
    for f in functions[:hops]:
        x = f[x]
    return x


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 3), (3, 2), (4, 2), (5, 2)])
def test_no_error_on_any_context(k, n):
    maps = list(product(range(n), repeat=n))
    functions = torch.tensor(list(product(maps, repeat=k)))
    result = construction.compose(functions, construction.enough_layers(k))
    assert (result.place[-1] == k + 1).all()
    expected = [[by_hand(f, x, k) for x in range(n)] for f in functions.tolist()]
    assert result.value[-1].tolist() == expected
    assert construction.composed(functions).tolist() == expected


@pytest.mark.parametrize("k", [1, 3, 8, 13])
def test_each_layer_doubles_the_level(k):
    stream = torch.Generator().manual_seed(k)
    functions = construction.random_functions(5, k, 3, generator=stream)
    result = construction.compose(functions, 4)
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
    assert phases.waits_in_words(MADE) == "20, > 20"
    assert phases.median_wait(MADE) == 20
