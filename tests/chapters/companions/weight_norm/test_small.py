"""All small networks, by brute force."""

import math
from itertools import product

import numpy as np
import pytest

from chapters.companions.weight_norm import model
from interruption import assert_resumes


def brute_force(units, most, n_bits):
    """How many networks of each W print each string, network by network."""
    table = [[0] * 2**n_bits for _ in range(most + 1)]
    for weights in product((-1, 0, 1), repeat=units * (units + 1)):
        price = sum(map(abs, weights))
        if price > most:
            continue
        state, word = [0] * units, 0
        for _ in range(n_bits):
            inputs = [*state, 1]
            rows = [weights[i * (units + 1) : (i + 1) * (units + 1)] for i in range(units)]
            state = [int(sum(w * x for w, x in zip(row, inputs, strict=True)) > 0) for row in rows]
            word = 2 * word + state[0]
        table[price][word] += 1
    return table


@pytest.mark.parametrize(("units", "most", "n_bits"), [(1, 2, 4), (2, 6, 6), (3, 3, 5)])
def test_counts_are_those_of_brute_force(units, most, n_bits):
    assert model.networks_per_string(units, most, n_bits).tolist() == brute_force(
        units, most, n_bits
    )


@pytest.mark.parametrize("kill_after", [1, 5])
def test_a_killed_enumeration_ends_in_the_same_counts(kill_after):
    assert_resumes(lambda: model.networks_per_string(2, 6, 6), kill_after)


def test_prior_is_the_normalised_sum():
    table = np.array([[1, 0, 0, 0], [2, 3, 0, 0], [0, 5, 7, 0]])
    result = model.prior(table, math.log(3))
    shares = np.array([1 + 2 / 3, 3 / 3 + 5 / 9, 7 / 9])
    assert result.strings.tolist() == [0, 1, 2]
    assert result.least.tolist() == [0, 1, 2]
    np.testing.assert_allclose(result.surprise, -np.log2(shares / shares.sum()))
