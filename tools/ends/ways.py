"""How the end of each stored run is computed again: from a state, from its start, or not at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from chapters.beyond.every_position.stored import TokensCell, WeightsCell
from chapters.beyond.real_transformers.token_grid import Cell as GridCell
from chapters.companions.birth.runs.generic import Generic
from chapters.companions.factual_recall.trials import Trial
from chapters.companions.grokking import RealTraining, widths
from chapters.companions.grokking.stored import Part
from chapters.companions.grokking.widths import Cell as WidthsCell
from chapters.companions.k_hop.away.backwards import Attempt
from chapters.companions.k_hop.depths import Depth
from chapters.companions.k_hop.hidden import Hidden
from chapters.companions.k_hop.phases import Cell as HopCell
from chapters.companions.k_hop.vocabulary import Trial as VocabularyTrial
from running.records import Entry

from .states import Keeping

CHEAP = 6.0  # seconds of a core for a whole entry, as they were recorded
PART = 3.0  # and for one of its runs
Pick = Callable[[Any], Any]
Counted = TypeVar("Counted", HopCell, Hidden)


@dataclass(frozen=True)
class Way:
    """How one end is computed again.

    Attributes:
        configuration: of what is computed again, a part of the entry's or one that ends sooner.
        pick: from the stored result, what that computes.
        found: the same from what was computed.
        keeping: makes the cache that keeps the state; None where all is computed from the start.
        parts: rows of a state that are left out ("none") or of which the last is enough ("last").
        bits: of a number in long tensors of the state.
        relative, absolute, whole: as of `compare.End`.
        seconds: of one core, to make the state.
    """

    configuration: Any
    pick: Pick
    found: Pick
    keeping: Callable[[], Keeping] | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    bits: int = 16
    relative: float = 0.05
    absolute: float = 0.01
    seconds: float = 0.0
    whole: bool = True


def whole(result: Any) -> Any:
    """A result as it is."""
    return result


def token_grid(entry: Entry) -> Way | None:
    """A cheap cell whole, of another one the run that ended first."""
    cell: GridCell = entry.configuration
    if (entry.seconds or 0) <= CHEAP:
        return Way(cell, whole, whole)
    first = min(entry.result, key=lambda row: row["taken"])
    taken = sum(row["taken"] for row in entry.result)
    if entry.seconds * first["taken"] / taken > PART:
        return None
    alone = replace(cell, rates=(first["rate"],), seeds=(first["seed"],))
    place = entry.result.index(first)
    return Way(alone, lambda rows: rows[place : place + 1], whole, whole=False)


def every_position(entry: Entry) -> Way | None:
    """The seed that ended first, where that is cheap; of the cheapest cells all."""
    cell: WeightsCell | TokensCell = entry.configuration
    if isinstance(cell, WeightsCell):
        work = cell.n_pairs**3 * cell.batch_size * cell.steps / 5e7
        if work * len(cell.seeds) <= CHEAP:
            return Way(cell, whole, whole)
        first, share = 0, work / 3  # measured; the longer ones have fewer queries
    else:
        taken = [row["taken"] for row in entry.result]
        first = taken.index(min(taken))
        share = (entry.seconds or 0) * taken[first] / sum(taken)
        if entry.seconds and entry.seconds <= CHEAP:
            return Way(cell, whole, whole)
    if share > PART:
        return None
    alone = replace(cell, seeds=(cell.seeds[first],))
    return Way(alone, lambda rows: rows[first : first + 1], whole, whole=False)


def k_hop(entry: Entry) -> Way | None:
    """Every run of a cheap cell; of another one the first, to the step at which the cell ended."""
    cell: HopCell = entry.configuration
    last = entry.result["moments"][-1]
    work = _hop_seconds(cell, last)
    if work <= CHEAP:
        return Way(cell, whole, whole, relative=0.0, absolute=3.0)
    alone = replace(cell, n_seeds=1, until=2.0, limit=last)
    if work * 1.3 / (1 + 0.3 * cell.n_seeds) > 4.5 * PART:
        return None
    return Way(
        alone,
        lambda kept: {"moments": kept["moments"], "right": kept["right"][:1]},
        whole,
        relative=0.0,
        absolute=3.0,
        whole=False,
    )


def k_hop_vocabulary(entry: Entry) -> Way | None:
    """As of k-hop; shares are counted in questions."""
    trial: VocabularyTrial = entry.configuration
    cell = _first_run(trial.cell, entry.result)
    asked = 3 * cell.test_size
    return _whole_or_first(entry, replace(trial, cell=cell), {"ends": asked, "without": asked})


def k_hop_hidden(entry: Entry) -> Way | None:
    """As of k-hop."""
    return _whole_or_first(entry, _first_run(entry.configuration, entry.result))


def k_hop_depths(entry: Entry) -> Way | None:
    """As of k-hop; attention is counted in hundredths."""
    depth: Depth = entry.configuration
    if entry.seconds is None:  # it went on from a state
        steps = _hop_seconds(depth.cell, entry.result["moments"][-1])
        entry = entry._replace(seconds=steps * (1.5 if depth.causal else 1))
    alone = replace(depth, cell=_first_run(depth.cell, entry.result))
    return _whole_or_first(entry, alone, {"sides": 100})


def k_hop_backwards(entry: Entry) -> Way | None:
    """As of k-hop; attention is counted in hundredths, and pulls in thousandths as they are."""
    attempt: Attempt = entry.configuration
    alone = replace(attempt, cell=_first_run(attempt.cell, entry.result))
    return _whole_or_first(entry, alone, {"away": 100, "carried": 30})


def _hop_seconds(cell: HopCell, steps: int) -> float:
    """What so many steps of a cell take, about."""
    return steps * cell.n_layers * cell.batch_size / 3 / 32 * (1 + 0.3 * cell.n_seeds) / 200


def _first_run(cell: Counted, result: Any) -> Counted:
    """The cell with its first run alone, to the step at which the cell ended."""
    return replace(cell, n_seeds=1, until=2.0, limit=result["moments"][-1])


def _whole_or_first(
    entry: Entry, first: Any, units: Mapping[str, float] | None = None
) -> Way | None:
    """A cheap entry whole, else its first run, if that is cheap; curves in units of their own."""
    seconds, runs = entry.seconds or 0.0, len(entry.result["right"])
    whole_entry = seconds <= CHEAP
    if not whole_entry and seconds * 1.3 / (1 + 0.3 * runs) > 4.5 * PART:
        return None

    def counted(curves: Any, size: int | None = None) -> Any:
        scaled = {name: (np.array(c) * (units or {}).get(name, 1)).tolist()
                  for name, c in curves.items() if name != "moments"}  # fmt: skip
        return {"moments": curves["moments"]} | {name: c[:size] for name, c in scaled.items()}

    return Way(
        entry.configuration if whole_entry else first,
        counted if whole_entry else lambda kept: counted(kept, 1),
        counted,
        relative=0.0,
        absolute=3.0,
        whole=whole_entry,
    )


BACK = 110  # steps, more than the window in which switching is counted


def grokking(entry: Entry) -> Way | None:
    """The last measurement of directions, from a state before its window; short trainings whole."""
    part: Part = entry.configuration
    if part.kind == "direction":
        return Way(
            part,
            _last_measured,
            _last_measured,
            keeping=lambda: Keeping(at=part.settings.steps - BACK),
            parts={"recent": "none", "switches": "none"},
            bits=32,
            seconds=0.00025 * part.settings.steps + 5,
        )
    names = [*entry.result.get("real", entry.result)]
    real: RealTraining | None = part.real
    if real is None or part.name.startswith("ridge"):
        return None
    steps = real.clock * real.slowdown / (2 * real.decay * real.learning_rate) * (1 - real.momentum)
    cost = steps * 1.5e-3 * (part.settings.modulus / 37) ** 2.5
    if cost > 3 * CHEAP:
        return None
    seeds = part.seeds if cost < 1 else part.seeds[:1]
    alone = replace(part, kind="weak", seeds=seeds)

    def pick(table: Any) -> Any:
        of = table.get("real", table)
        return {name: of[name][: len(seeds)] for name in names if name in of and name != "clock"}

    return Way(alone, pick, pick, whole=part.kind == "network" and seeds == part.seeds)


def _last_measured(table: Any) -> Any:
    """The last column of every curve, seeds in rows."""
    curves = {name: part for name, part in table.items() if name not in ("settings", "steps")}
    return {name: [row[-1] for row in part] for name, part in curves.items()}


def grokking_widths(entry: Entry) -> Way | None:
    """A cheap cell whole, of another one its first seed."""
    cell: WidthsCell = entry.configuration
    seconds = entry.seconds or 0
    if seconds <= CHEAP:
        return Way(cell, whole, whole)
    if seconds / len(cell.seeds) > PART:
        return None

    def first(kept: Any) -> Any:
        return {name: kept[name][:1] for name in widths.CURVES}

    return Way(replace(cell, seeds=cell.seeds[:1]), first, first, whole=False)


def factual_recall(entry: Entry) -> Way | None:
    """The most right answers, from half a test's steps before they were first given."""
    trial: Trial = entry.configuration
    return Way(
        trial,
        lambda kept: max(kept["right"]),
        lambda kept: max(kept["right"]),
        keeping=lambda: Keeping(trial.every, lambda parts: float(parts["best"][1].max())),
        relative=0.0,
        absolute=10.0,
        seconds=entry.result["steps"]
        * len(trial.rates)
        * {16: 2.0e-3, 24: 2.7e-3, 32: 3.5e-3}[trial.shape.dim],
    )


def birth(entry: Entry) -> Way | None:
    """The readings at the end and the accuracies on fresh sequences, from the last weights."""
    settings = entry.configuration.settings
    if isinstance(settings, Generic):
        cost = settings.steps * 0.35
    else:
        cost = settings.steps * settings.batch_size / 64 * 0.1 * max(1, settings.dim / 256) ** 1.3
        cost *= (settings.length / 128) ** 1.3
    return Way(
        entry.configuration,
        _last_probe,
        _last_probe,
        keeping=Keeping,
        parts={"pool": "none", "rows": "last", "found": "last"},
        bits=8,
        absolute=0.01,
        seconds=cost,
    )


def _last_probe(kept: Any) -> Any:
    found = {"tested": kept["tested"]}
    if "readings" in kept:
        found["readings"] = [curve[-1] for curve in kept["readings"]]
    return found | ({"maps": kept["maps"]} if "maps" in kept else {})


def distributional(entry: Entry) -> Way | None:
    """The last readings, tables of truncations, pushes and spectra, from the last weights."""
    recipe = entry.configuration.recipe
    return Way(
        entry.configuration,
        _last_truncations,
        _last_truncations,
        keeping=Keeping,
        parts={"losses": "last", "found": "last"},
        bits=8,
        absolute=0.02,
        seconds=recipe.steps * (2.1 if recipe.dim > 64 else 0.08),
    )


def _last_truncations(kept: Any) -> Any:
    spectra = {name: (values, cosines[:2]) for name, (values, cosines) in kept["spectra"].items()}
    readings = [curve[-1] for curve in kept["readings"]]
    return {"readings": readings, "spectra": spectra} | {n: kept[n] for n in ("table", "pushes")}


WAYS: dict[str, Callable[[Entry], Way | None]] = {
    each.__name__: each
    for each in (
        token_grid, every_position, k_hop, k_hop_vocabulary, k_hop_hidden, k_hop_depths,
        k_hop_backwards,
        grokking, grokking_widths, factual_recall, birth, distributional,
    )
}  # fmt: skip
