"""One real weight that holds a string."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chapters.companions.weight_norm import precision

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
