"""The construction on all small contexts, the published table, and the stored record."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from chapters.companions.k_hop import construction, phases, published, stored
from chapters.companions.k_hop.phases import Cell, Measured
from stored_runs import file_with, stored_text


def by_hand(functions, x, hops):
    """f_hops(... f_1(x)), in plain Python."""
    for f in functions[:hops]:
        x = f[x]
    return x


def every_context(k, n):
    maps = list(product(range(n), repeat=n))
    return torch.tensor(list(product(maps, repeat=k)))


@pytest.mark.parametrize(("k", "n"), [(1, 3), (2, 3), (3, 2), (4, 2), (5, 2)])
def test_no_error_on_any_context(k, n):
    functions = every_context(k, n)
    assert len(functions) == n ** (n * k)
    layers = (k - 1).bit_length() + 1
    found = construction.compose(functions, layers)
    assert (found.place[-1] == k + 1).all()
    expected = [[by_hand(f, x, k) for x in range(n)] for f in functions.tolist()]
    assert found.value[-1].tolist() == expected
    assert construction.composed(functions).tolist() == expected


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 13])
def test_each_layer_doubles_the_level(k):
    stream = torch.Generator().manual_seed(k)
    functions = construction.drawn(5, k, 3, generator=stream)
    found = construction.compose(functions, 4)
    for t in range(5):
        level = min(2**t, k + 1)
        assert (found.place[t] == level).all()
        expected = [[by_hand(f, x, level - 1) for x in range(3)] for f in functions.tolist()]
        assert found.value[t].tolist() == expected


def test_attention_is_exact_and_looks_at_one_token():
    """In whole numbers: each row of scores has a single 1; other entries are 0."""
    functions = construction.drawn(4, 5, 3, generator=torch.Generator().manual_seed(0))
    stream = construction.embedded(functions, 3)
    for number in (1, 2, 3):
        layer = construction.weights(number, 3, 18)
        scores = stream.long() @ layer.match.long().T @ stream.long().mT
        assert torch.equal(
            scores.sort(dim=-1).values[..., -2:].unique(dim=0).flatten(0, 1),
            torch.tensor([[0, 1]]).expand(21, 2),
        )
        after = construction.attend(stream, layer)
        by_integers = stream.long() + scores @ (stream.long() @ layer.copy.long().T)
        assert torch.equal(after.long(), by_integers)
        assert torch.equal(after, after.round())
        stream = after


def test_the_order_of_facts_does_not_matter():
    functions = construction.drawn(3, 4, 3, generator=torch.Generator().manual_seed(1))
    stream = construction.embedded(functions, 3)
    order = torch.randperm(15, generator=torch.Generator().manual_seed(2))
    order = torch.cat([order, torch.arange(15, 18)])
    plain, shuffled = stream, stream[:, order]
    for number in (1, 2, 3):
        layer = construction.weights(number, 3, 15)
        plain, shuffled = construction.attend(plain, layer), construction.attend(shuffled, layer)
    assert torch.equal(plain[:, order], shuffled)


@pytest.mark.parametrize("k", range(1, 70))
def test_numbers_of_layers(k):
    enough = 0
    while 2**enough < k:
        enough += 1
    assert construction.enough_layers(k) == enough + 1
    least = 0
    while 2**least < k + 1:
        least += 1
    assert construction.least_layers(k) == least <= enough + 1
    assert (least == enough + 1) == (k & (k - 1) == 0)


def test_drawn_functions_and_permutations():
    stream = torch.Generator().manual_seed(0)
    some = construction.drawn(4000, 1, 3, generator=stream)
    assert torch.bincount(some.flatten(), minlength=3) / some.numel() == pytest.approx(1 / 3, 0.05)
    shuffled = construction.drawn(50, 3, 5, generator=stream, permutations=True)
    assert (shuffled.sort(dim=-1).values == torch.arange(5)).all()


def test_layers_outside_the_network_are_refused():
    with pytest.raises(ValueError, match="layer must be between 1 and 2, got 3"):
        construction.weights(3, 2, 4)


def test_published_numbers():
    """Against the numbers read from the source's figure, and a table made by hand."""
    assert published.greatest_hops(published.ERRORS[4]) == {2: 1, 3: 3, 4: 6, 5: 9, 6: 16}
    for table in published.ERRORS.values():
        assert list(table) == [2, 3, 4, 5, 6]
        for row in table.values():
            assert len(row) == published.TESTED
            assert all(0 <= error < 0.75 for error in row)  # a guess among four letters
    by_hand = {1: (0.2, 0.0), 2: (0.0, 0.1, 0.0), 3: (0.05, 0.0)}
    assert published.greatest_hops(by_hand) == {1: 0, 2: 1, 3: 2}
    assert published.greatest_hops(by_hand, 0.3) == {1: 2, 2: 3, 3: 2}


MADE = Measured(
    Cell(2, ((1, 2),), 30, n_seeds=2, n_hops=2, test_size=1),
    np.array([0, 10, 20]),
    np.array([[[1, 0], [2, 1], [3, 2]], [[1, 0], [1, 3], [1, 3]]]),
)


def test_waits_are_those_of_the_last_hop_and_infinite_where_censored():
    assert MADE.learned(1).tolist() == [10, np.inf]
    assert MADE.learned(2).tolist() == [20, 10]
    assert MADE.waits.tolist() == [20, np.inf]
    assert phases.order(MADE, (2, 1)).tolist() == [[20, 10], [10, np.inf]]


def test_stored_cells_ended_as_they_say():
    found = stored.read(stored_text("k_hop"))
    for cell, measured in found.items():
        assert measured.right.shape == (cell.n_seeds, len(measured.moments), cell.n_hops)
        last = measured.accuracy[:, -1, [hop - 1 for hop in cell.asked]]
        assert measured.moments[-1] == cell.limit or (last >= cell.until).all()


def test_a_stored_cell_is_what_its_settings_give():
    """One hop with one layer; processors round differently, so an answer or two may turn."""
    cell = phases.alone(1, 1, 2000, n_hops=1)
    again = phases.measure(replace(cell, n_seeds=2))
    kept = stored.read(stored_text("k_hop"))[cell]
    times = len(again.moments)
    assert np.abs(again.right - kept.right[:2, :times]).max() <= 2


def test_a_cell_is_stored_as_it_was_measured(monkeypatch):
    monkeypatch.setattr(phases, "measure", lambda cell: MADE)
    found = stored.read(file_with(MADE.cell, stored.run(MADE.cell)))
    assert list(found) == [MADE.cell]
    assert (found[MADE.cell].right == MADE.right).all()
    assert (found[MADE.cell].moments == MADE.moments).all()
