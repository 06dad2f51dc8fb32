"""Copies with a loss at every position: the mean over prefixes, and what copies gain."""

import numpy as np
import pytest

from chapters.beyond.every_position import PRESET, copies
from emergence import theory
from emergence.theory import contexts

POINT = 0.3, 0.7, 0.5


def test_without_copies_it_is_a_loss_at_every_position():
    every = theory.landscape_of(9, supervision="every")
    found = copies.prefixes_of_copies(9, 9)
    assert found.loss(*POINT) == pytest.approx(every.loss(*POINT), rel=1e-13)
    assert found.gradient(*POINT) == pytest.approx(every.gradient(*POINT), rel=1e-12)


@pytest.mark.parametrize("distinct", [2, 4])
def test_copies_are_those_of_each_prefix(distinct):
    order = contexts.cyclic(distinct, 8 // distinct)
    lands = [contexts.landscape(order[:n], (n - 1) % distinct) for n in range(1, 9)]
    found = copies.prefixes_of_copies(8, distinct)
    assert found.loss(*POINT) == pytest.approx(np.mean([land.loss(*POINT) for land in lands]))
    mean = np.mean([land.gradient(*POINT) for land in lands], axis=0)
    assert found.gradient(*POINT) == pytest.approx(mean)


def test_a_prefix_pushes_by_its_copies():
    assert copies.step_pull(4, 1) == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert copies.step_pull(4, 2) == pytest.approx(1 + 1 / 2 + 2 / 3 + 2 / 4)


def test_one_query_gains_what_the_copies_are():
    gains = copies.speedups(32, 4)
    assert gains["one step", False] == pytest.approx(4, rel=0.1)
    assert gains["whole head", False] > 4
    assert 1 < gains["one step", True] < 2
    assert 1 < gains["whole head", True] < 2


def test_copies_have_to_fill_the_context():
    with pytest.raises(ValueError, match="do not fill"):
        copies.prefixes_of_copies(9, 2)
    settings = PRESET["paper"].settings
    assert settings.copied_places % settings.copies == 0
