"""Nineteen, counted by null spaces and by gradients; fewer turns leave another number."""

import pytest
import torch

from chapters.paper.appendix_a import averages, commutant, dimension


@pytest.mark.parametrize("k", [1, 2])
def test_nineteen_dimensions_are_fixed(k):
    assert dimension.fixed_dimensions(k) == (3, 12, 4)


def test_fewer_rotations_leave_more(monkeypatch):
    """Without the swap of halves, the fixed matrices of a position are four instead of two."""
    monkeypatch.setattr(dimension, "block_orthogonal", lambda g: commutant.block_orthogonal(g)[:-1])
    assert dimension.fixed_dimensions(2) == (5, 20, 4)


@pytest.mark.parametrize(("query_position", "reached"), [(True, 19), (False, 15)])
def test_gradients_span_nineteen_or_fifteen(query_position, reached):
    rows = dimension.gradients(
        4, 24, averages.pauli_group(4), torch.Generator().manual_seed(0),
        query_position=query_position,
    )  # fmt: skip
    assert rows.shape == (24, 28 * 16)
    assert dimension.rank(rows) == reached


def test_without_rotations_every_gradient_is_a_direction_of_its_own():
    nothing = averages.Group(*(torch.eye(4, dtype=torch.float64)[None] for _ in range(2)))
    rows = dimension.gradients(
        4, 24, nothing, torch.Generator().manual_seed(0), query_position=True
    )
    assert dimension.rank(rows) == 24
