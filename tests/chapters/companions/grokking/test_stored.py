"""Stages of grokking, and the long runs that are stored."""

from dataclasses import replace

import numpy as np
import pytest

from chapters.companions.grokking import (
    PRESET,
    Direction,
    Ladder,
    Moduli,
    RealTraining,
    Simulation,
    direction,
    stages,
    stored,
)
from stored_runs import file_with, stored_text

STEPS = np.array([10, 20, 40, 80, 160])


@pytest.fixture(scope="module")
def tables():
    return stored.read(stored_text("grokking"))


def test_the_stage_goes_from_the_last_chance_to_the_first_knowledge():
    accuracy = np.array([0.0, 0.3, 0.1, 0.5, 0.9, 0.2, 1.0])
    assert stages.grokking_stage(accuracy) == (2, 4)
    assert stages.grokking_stage(np.array([0.5, 0.9])) == (0, 1)
    never = stages.grokking_stage(accuracy[:4])
    assert not never.happens


def test_means_during_a_stage_are_weighted_by_time():
    values = np.array([9.0, 1.0, 2.0, 4.0, 9.0])
    weights = [15, 30, 60]  # half the time between the neighbours
    expected = np.average(values[1:4], weights=weights)
    assert stages.during(values, STEPS, stages.Stage(1, 3)) == pytest.approx(expected)
    assert np.isnan(stages.during(values, STEPS, stages.Stage(-1, -1)))


def test_a_maximum_outside_the_stage_is_seen():
    values = np.array([0.1, 0.9, 0.5, 0.6, 0.2])
    assert stages.shortfall(values, stages.Stage(2, 4)) == pytest.approx(0.3)
    assert stages.shortfall(values, stages.Stage(1, 4)) == 0


def test_a_level_is_reached_for_good_where_a_curve_stays():
    curve = np.array([0.9, 0.1, 0.6, 0.9])
    assert stages.for_good(curve, 0.5) == 2
    assert stages.for_good(curve, 0.05) == 0
    assert stages.for_good(curve, 0.95) == 4


def test_half_is_between_logs():
    accuracy = np.array([0.0, 0.0, 0.25, 0.75, 1.0])
    assert stages.known_after(accuracy, STEPS) == pytest.approx(40 * 2**0.5)
    assert stages.known_after(accuracy / 3, STEPS) == float("inf")
    assert stages.clock_spread(np.array([2.0, 3.0])) == pytest.approx(0.5)
    assert stages.clock_spread(np.array([2.0, np.inf])) == float("inf")


def test_every_rung_but_the_one_without_decay_has_the_same_clock():
    rungs = Ladder().rungs()
    clocks = [each.steps * each.learning_rate * each.weight_decay for each in rungs.values()]
    assert clocks.pop(list(rungs).index("weight decay 0")) == 0
    assert set(np.round(clocks, 9)) == {4.2}


def test_the_file_holds_the_ladder_of_the_settings(tables):
    rungs = PRESET["paper"].settings.ladder.rungs()
    assert set(tables["direction"]) == set(rungs)
    for name, each in rungs.items():
        kept = tables["direction"][name]
        assert kept["settings"]["steps"] == each.steps == kept["steps"][-1]
        assert kept["settings"]["weight_decay"] == each.weight_decay
        assert kept["steps"].tolist() == direction.measured_steps(each)
        assert kept["cosine"].shape == (3, each.n_measured)


def test_a_table_goes_through_the_file_unchanged():
    settings = Direction(modulus=5, hidden=16, n_test=3, steps=60, n_measured=2, pull_steps=5,
                         switch_window=20)  # fmt: skip
    record = direction.measure_updates(settings, (0,), ("entries",), label="test")
    part = stored.Part("direction", "base", settings, (0,))
    back = stored.read(file_with(part, stored.run(part)))["direction"]["base"]
    assert back["test_loss"] == pytest.approx(record.test_loss[0].numpy(), rel=1e-5)
    assert back["gates"].shape == (1, 2, 10, 10)
    assert back["settings"]["steps"] == 60


def test_a_file_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="these are no stored runs of Part"):
        stored.read("[1, 2]")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["sharpness 50", "weight decay 0.0004"])
def test_a_rung_begins_as_it_is_stored(tables, name):
    kept = tables["direction"][name]
    settings = replace(Ladder().rungs()[name], steps=int(kept["steps"][0]) + 1, n_measured=2)
    found = direction.measure_updates(settings, (1,), ("entries",), label="test")
    for curve in ("train_loss", "test_loss", "norm"):
        assert float(getattr(found, curve)[0, 0, 0]) == pytest.approx(kept[curve][1, 0], rel=1e-3)


SMALL = Simulation(modulus=7, hidden=24, steps=20, log_every=10, embedding_std=7**-0.5)
REAL = RealTraining(decay=0.3, clock=0.1, log_every=0.05)


@pytest.mark.parametrize(
    ("kind", "name", "real", "wanted"),
    [
        ("network", "predicted", None, {"accuracy"}),
        ("network", "ridge", REAL, {"accuracy"}),
        ("network", "slowed", REAL, {"memorised"}),
        ("moduli", "7", REAL, {"real", "predicted"}),
        ("weak", "7", REAL, {"real"}),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_a_part_is_what_its_place_says(kind, name, real, wanted):
    part = stored.Part(kind, name, SMALL, (0, 1), real)
    found = stored.run(part)
    assert wanted <= set(found)
    for table in found.values() if "real" in found else [found]:
        assert len(table["accuracy"]) == 2
        assert ("memorised" in table) == (table is found.get("real") or name == "slowed")
    assert set(stored.read(file_with(part, found))[kind][name]) == set(found)


def test_moduli_are_trained_at_rates_that_stay_stable():
    sizes, first = Moduli(), PRESET["paper"].settings.simulation.modulus
    parts = {part.name: part for part in stored.RUNS.cells if part.kind == "moduli"}
    assert list(parts) == [str(p) for p in sizes.moduli]
    for p, clock in zip(sizes.moduli, sizes.clocks, strict=True):
        own, real = parts[str(p)].settings, parts[str(p)].real
        assert (own.modulus, own.ridge_step, real.clock) == (p, sizes.ridge_step, clock)
        assert real.learning_rate * p == pytest.approx(sizes.real.learning_rate * first)
