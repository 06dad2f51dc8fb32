"""Sorted maps against single entries; masses and emergence of attention made by hand."""

import numpy as np
import pytest
import torch

from emergence.companions.retrieval import heads, task


def test_sorted_maps_look_up_the_tokens_of_the_chain():
    stream = torch.Generator().manual_seed(0)
    batch = task.stacked(
        [
            task.chains(torch.full((4,), 3), n_chains=2, n_hops=3, vocabulary=12, generator=stream)
            for _ in range(2)
        ]
    )
    whole = torch.rand(2, 4, 2, 7, 7, generator=stream)
    row = torch.rand(2, 4, 2, 1, 7, generator=stream)
    maps = heads.sorted_maps((whole, row), batch)
    assert maps.shape == (2, 2, 2, 4, 4)

    def place(run, i, token):
        """Fact number `token` + 1 has the value from which the end is `token` steps away."""
        if token == 3:
            return 6
        symbol = int(batch.target[run, i])
        for _ in range(token):
            at = batch.values[run, i].tolist().index(symbol)
            symbol = int(batch.keys[run, i, at])
        return batch.values[run, i].tolist().index(symbol)

    for run, head, one, other in np.ndindex(2, 2, 4, 4):
        entries = [whole[run, i, head, place(run, i, one), place(run, i, other)] for i in range(4)]
        assert maps[run, 0, head, one, other] == pytest.approx(float(sum(entries)) / 4)
        if one == 3:
            entries = [row[run, i, head, 0, place(run, i, other)] for i in range(4)]
            assert maps[run, 1, head, one, other] == pytest.approx(float(sum(entries)) / 4)
        else:
            assert torch.isnan(maps[run, 1, head, one, other])


def test_maps_need_queries_for_the_whole_chain():
    stream = torch.Generator().manual_seed(0)
    batch = task.stacked(
        [task.chains(torch.tensor([2]), n_chains=2, n_hops=3, vocabulary=12, generator=stream)]
    )
    with pytest.raises(ValueError, match="ask for the whole chain"):
        heads.sorted_maps((torch.rand(1, 1, 2, 7, 7),), batch)


def test_masses_are_means_of_diagonals():
    matrix = np.arange(16.0).reshape(4, 4)
    assert heads.masses(matrix).tolist() == [(4 + 9 + 14) / 3, (8 + 13) / 2, 12.0]
    matrix[:3] = np.nan
    assert heads.masses(matrix).tolist() == [14.0, 13.0, 12.0]


def test_emergence_is_the_first_step_above_the_level():
    """Layer 1 moves to offset 1 at step 20, layer 2 to offset 2 at 30; a head stays diffuse."""
    steps = np.array([0, 10, 20, 30])
    maps = np.full((1, 4, 2, 2, 4, 4), 0.25)
    maps[0, 1:, 0, 0] = np.eye(4, k=-1) * 0.4
    maps[0, 2:, 0, 0] = np.eye(4, k=-1) * 0.8
    maps[0, 1, 0, 1] = np.eye(4, k=-3) * 0.9  # a passing interest in another offset
    maps[0, 2:, 0, 1] = np.eye(4, k=-1) * 0.6
    maps[0, 3:, 1, 0, -1] = np.eye(4, k=-2)[-1] * 0.7
    maps[0, :, 1, 0, :-1] = np.nan
    found = heads.emergence(steps, maps)
    assert found.offset[0, 0].tolist() == [1, 1]
    assert found.offset[0, 1, 0] == 2
    assert found.first.tolist() == [[[20.0, 20.0], [30.0, np.inf]]]
    assert found.layers.tolist() == [[20.0, 30.0]]
    assert found.mass[0, :, 1, 0].tolist() == [0.25, 0.25, 0.25, 0.7]
