"""One real weight that holds a string, and norms on a grid."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emergence.companions.weight_norm import precision, printers

bits = st.lists(st.integers(0, 1), min_size=1, max_size=80)


@given(bits)
def test_nine_weights_print_any_string(string):
    network = precision.real_network(precision.packed(string))
    assert precision.digits(network, len(string)) == string
    assert len(network) == 9
    assert sum(abs(weight) for weight in network.values()) < Fraction(19, 2)


def test_packed_is_the_binary_fraction():
    assert precision.packed([1, 0, 1]) == Fraction(1, 2) + Fraction(1, 8) + Fraction(1, 16)


def test_double_precision_holds_its_mantissa():
    string = np.random.default_rng(0).integers(2, size=200).tolist()
    shown = precision.digits(precision.real_network(float(precision.packed(string))), 200)
    right = next(i for i, (a, b) in enumerate(zip(shown, string, strict=True)) if a != b)
    assert 45 <= right <= 60


@given(bits, st.integers(1, 60))
def test_digits_of_a_weight_are_bits_printed(string, digits):
    assert precision.recovered(string, digits) >= min(digits - 1, len(string))


def test_a_cut_weight_loses_the_rest():
    string = [1, 0] * 40
    assert precision.recovered(string, 20) < 25


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0])
def test_norms_of_ternary_weights_are_their_number(p):
    network = printers.zeros_then_one(77)
    assert precision.power_sum(precision.values(network), p) == network.weight_count


@given(
    st.lists(st.integers(-128, 128).filter(bool), min_size=1), st.sampled_from((0.5, 1.0, 2.0, 3.0))
)
def test_norms_on_a_grid_are_their_number_up_to_constants(steps, p):
    weights = np.array(steps) / 16
    low, high = precision.grid_bounds(weights, p)
    total = precision.power_sum(weights, p)
    assert low * len(steps) <= total * (1 + 1e-12)
    assert total <= high * len(steps) * (1 + 1e-12)
    assert low >= 16.0**-p
    assert high <= 8.0**p
