"""The clock of plain gradient descent, its trainings, and trainings that differ in one thing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chapters.beyond.clock_of_a_corpus import compared, counted, reading, sgd
from chapters.beyond.clock_of_a_corpus.counted import Count
from chapters.beyond.clock_of_a_corpus.reading import Run
from chapters.beyond.clock_of_a_corpus.sgd import Descent
from chapters.beyond.clock_of_a_corpus.stored import PILOTS, SMALLER_RATES, TWINS, Cell
from chapters.beyond.clock_of_a_corpus.synthetic import Synthetic
from emergence import clock

DATA = Path(__file__).parents[4] / "data"
PULLS = clock.Pulls(64, 8, (0.1, 1.0), (0.1, 1.0), (0.1, 1.0), 0.5, 0.5, 0.1, 0.2)


def a_run(cell: Cell, steps: float) -> Run:
    return Run(cell, PULLS, 100.0, {"prefix": steps})


def test_time_falls_with_the_rate_and_the_pulls_and_grows_with_tokens_and_places() -> None:
    at = sgd.steps_to_head(PULLS, 0.5)
    assert sgd.steps_to_head(PULLS, 1.0) == pytest.approx(at / 2)
    assert sgd.steps_to_head(PULLS._replace(vocabulary=8 * 16), 0.5) == pytest.approx(8 * at)
    assert sgd.steps_to_head(PULLS._replace(context=64 * 16), 0.5) == pytest.approx(2 * at)
    assert sgd.steps_to_head(PULLS._replace(output=(0.4, 1.0)), 0.5) == pytest.approx(at / 2)
    assert sgd.steps_to_head(PULLS._replace(match=(-0.1, 1.0)), 0.5) == np.inf


def test_time_is_that_of_the_chain() -> None:
    """Integrated step by step, the last weight is always at the same level when time is up."""
    levels = []
    for pulls in (PULLS, PULLS._replace(vocabulary=40, previous=(0.02, 1.0))):
        total, parts = sgd.steps_to_head(pulls, 1.0), 4000
        gamma = beta = alpha = 0.0
        for _ in range(parts):
            alpha += sgd.SCORES * pulls.previous[0] / pulls.context * beta * gamma * total / parts
            beta += sgd.SCORES * pulls.match[0] / pulls.vocabulary * gamma * total / parts
            gamma += sgd.output_speed(pulls) * total / parts
        levels.append(alpha)
    assert levels == pytest.approx([sgd.CONSTANT**4 / 8] * 2, rel=0.01)


def test_the_network_begins_to_copy_as_fast_as_is_said() -> None:
    counts = counted.restored(counted.count(Count(sgd.EASY, 32)))
    found = [compared.copying_speed(replace(sgd.PILOTS[0], seed=s), 256) for s in range(3)]
    assert np.mean(found) == pytest.approx(sgd.output_speed(counts), rel=0.3)


def test_gradient_descent_lowers_the_loss_and_stops_with_the_head() -> None:
    found = sgd.run(Descent(Synthetic(16, 0.5, 0.9), 16, 8, 0.1, 40))
    assert found["steps"][-1] == 40
    assert found["repeated"][-1] < found["repeated"][0]
    assert {len(column) for column in found.values()} == {len(found["steps"])}


def test_a_descent_at_too_large_a_rate_is_told() -> None:
    with pytest.raises(ArithmeticError, match="not finite"):
        sgd.run(Descent(Synthetic(16, 0.5, 0.9), 16, 4, 50.0, 40))


def test_a_stored_descent_comes_out_again() -> None:
    """To the bit on the machine that made it; elsewhere the head comes at the same time."""
    cell = sgd.PILOTS[2]
    kept = sgd.RUNS.read((DATA / "clock_sgd.json").read_text(encoding="utf-8"))[cell]
    again, before = (reading.passed(result)["prefix"] for result in (sgd.run(cell), kept))
    assert again == pytest.approx(before, rel=0.25)


def test_pilots_are_told_by_text_context_and_batch_whatever_their_seed() -> None:
    like = replace(sgd.PILOTS[0], learning_rate=9.0, seed=4)
    assert compared.Descended(like, PULLS, 1.0, 1.0).pilot
    assert not compared.Descended(replace(like, batch_size=4), PULLS, 1.0, 1.0).pilot
    assert a_run(replace(PILOTS[1], seed=2), 1.0).pilot
    assert not a_run(replace(PILOTS[1], batch_size=99), 1.0).pilot


def test_every_descent_is_declared_once() -> None:
    assert len(set(sgd.CELLS)) == len(sgd.CELLS)


def test_powers_are_taken_between_the_ends() -> None:
    assert compared.power({4: [100.0, 100.0], 16: [7.0], 64: [25.0, 25.0]}) == pytest.approx(-0.5)
    assert compared.power({64: [3.0], 4: [3.0]}) == 0
    assert compared.power({64: [np.inf], 4: [np.inf]}) == np.inf


def test_seeds_of_a_setting_are_compared_where_there_are_three_and_one_has_a_head() -> None:
    some = [a_run(replace(PILOTS[0], seed=s), 100.0 + 20 * s) for s in range(3)]
    two = [a_run(replace(PILOTS[1], seed=s), 100.0) for s in range(2)]
    none = [a_run(replace(PILOTS[2], seed=s), np.inf) for s in range(3)]
    (found,) = compared.spread([*some, *two, *none]).values()
    assert found == pytest.approx(1.4)


def test_batches_and_vocabularies_are_those_that_differ_in_nothing_else() -> None:
    runs = [a_run(cell, 10.0 * i) for i, cell in enumerate([*TWINS, *PILOTS], start=1)]
    assert compared.by_batch(runs) == {
        4: [10.0, 70.0, 130.0], 16: [20.0, 80.0, 140.0], 64: [30.0, 90.0, 150.0],
    }  # fmt: skip
    assert set(compared.by_vocabulary(runs)) == {64, 256}


def test_a_smaller_rate_stands_beside_the_usual_one() -> None:
    cell = SMALLER_RATES[0]
    usual = Cell(cell.text, cell.context, cell.batch_size)
    runs = [a_run(usual, np.inf), a_run(cell, 8.0)]
    ((one, other),) = compared.smaller_rates(runs).values()
    assert (one.cell, other.cell) == (usual, cell)
    assert not compared.smaller_rates(runs[1:])
