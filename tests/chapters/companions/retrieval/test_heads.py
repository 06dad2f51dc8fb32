"""Sorted maps, masses and emergence made by hand, and steps since which looks are needed."""

import numpy as np
import pytest
import torch

from chapters.companions.retrieval import model


def batch_of(hops, n_runs=2):
    stream = torch.Generator().manual_seed(0)
    queries = torch.full((4, 2), hops)
    drawn = (model.draw_contexts(queries, 3, 12, stream) for _ in range(n_runs))
    return model.stacked([*drawn])


def test_sorted_maps_look_up_the_tokens_of_each_chain():
    stream, batch = torch.Generator().manual_seed(1), batch_of(3)
    whole = torch.rand(2, 4, 2, 8, 6, generator=stream)
    rows = torch.rand(2, 4, 2, 2, 6, generator=stream)
    maps = model.sorted_maps((whole, rows), batch)
    assert maps.shape == (2, 2, 2, 4, 3)

    def place(run, i, chain, token):
        """Where the fact stands that is `token` steps from the one that names the end."""
        if token == 3:
            return 6 + chain
        symbol = int(batch.target[run, i, chain])
        for _ in range(token):
            at = batch.values[run, i].tolist().index(symbol)
            symbol = int(batch.keys[run, i, at])
        return batch.values[run, i].tolist().index(symbol)

    each = list(np.ndindex(4, 2))
    for run, head, row, other in np.ndindex(2, 2, 4, 3):
        entries = [
            whole[run, i, head, place(run, i, c, row), place(run, i, c, other)] for i, c in each
        ]
        assert maps[run, 0, head, row, other] == pytest.approx(float(sum(entries)) / 8)
        if row == 3:
            entries = [rows[run, i, head, c, place(run, i, c, other)] for i, c in each]
            assert maps[run, 1, head, row, other] == pytest.approx(float(sum(entries)) / 8)
        else:
            assert torch.isnan(maps[run, 1, head, row, other])


def test_maps_need_queries_for_the_whole_chain():
    with pytest.raises(ValueError, match="ask for the whole chain"):
        model.sorted_maps((torch.rand(2, 4, 2, 8, 6),), batch_of(2))


def test_masses_are_means_of_diagonals():
    matrix = np.arange(12.0).reshape(4, 3)
    assert model.masses(matrix, (1, 2, 3)).tolist() == [(3 + 7 + 11) / 3, (6 + 10) / 2, 9.0]
    assert model.masses(matrix, (-1, -2)).tolist() == [(1 + 5) / 2, 2.0]
    matrix[:3] = np.nan
    assert model.masses(matrix, (1, 2, 3)).tolist() == [11.0, 10.0, 9.0]


def test_the_strongest_head_of_each_layer():
    """Head 1 of layer 1 attends to offset 1, head 0 of layer 2 to offset 2; others are diffuse."""
    maps = np.full((1, 2, 2, 4, 3), 0.25)
    maps[0, 0, 1] = np.eye(4, 3, k=-1) * 0.8
    maps[0, 1, 0, -1] = np.eye(4, 3, k=-2)[-1] * 0.7
    maps[0, 1, 0, :-1] = np.nan
    head, offset = model.strongest(maps)
    assert head.tolist() == [[1, 0]]
    assert offset.tolist() == [[1, 2]]


def test_a_look_is_needed_since_its_absence_costs_enough():
    """Two runs, four records, the three looks of two layers, one number of hops."""
    accuracy = np.array([[[0.3], [0.6], [0.9], [1.0]], [[0.3], [0.3], [0.3], [0.3]]])
    cut = np.stack([accuracy] * 3, axis=2)
    cut[0, 2:, 1] -= 0.5
    cut[0, 3:, 2] -= 0.4
    cut[0, 1:, 0] -= 0.2
    since = model.needed_since(np.array([0, 10, 20, 30]), accuracy, cut, 1 / 3)
    assert since[0, :, 0].tolist() == [np.inf, 20, 30]
    assert np.isinf(since[1]).all()
    assert model.by_layer(since, 2).tolist() == [[20, 30], [np.inf, np.inf]]
