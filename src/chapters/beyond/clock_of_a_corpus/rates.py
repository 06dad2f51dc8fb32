"""How often the answers of the clock were right, which its command says beside them.

`python -m chapters.beyond.clock_of_a_corpus.rates` reads the stored trainings and writes
src/emergence/clock/rates.json.
"""

import json
import math
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from emergence import clock

from . import untaught
from .natural.outcomes import Outcomes
from .reading import SAVED, StoredCells, first_crossing
from .stored import LEVEL

RATES = Path(clock.__file__).with_name("rates.json")


def rates_of(data: Path) -> dict[str, dict[str, Any]]:
    """Trainings for which the clock said yes, on natural and on made-up texts, and no.

    `ratios` are the least and the largest of measured over predicted steps where a head formed,
    and `overdue` counts trainings without a head that was predicted within their budget.
    """
    outcomes, made_up = Outcomes(data), StoredCells(data).runs
    natural = [run for run in outcomes.runs if math.isfinite(run.predicted)]
    ratios = [round(run.measured / run.predicted, 1) for run in natural if run.formed]
    overdue = [run for run in natural if run.predicted < run.cell.steps and not run.formed]
    expected = [run for run in made_up if math.isfinite(run.predicted)]
    refused = [
        math.isfinite(steps["prefix"])
        for training, steps in outcomes.steps.items()
        if training.kind == "null" and outcomes.prediction(training.text)["null"] is None
    ]
    file = data / "clock_untaught.json"
    if file.is_file():
        stored = untaught.RUNS.read(file.read_text(encoding="utf-8"))
        refused += [formed(result) for result in stored.values() if said_no(result)]
    return {
        "natural": {
            "number": len(natural),
            "formed": len(ratios),
            "median": round(median(ratios), 1),
            "ratios": [min(ratios), max(ratios)],
            "overdue": len(overdue),
            "longest": round(max(run.cell.steps / run.predicted for run in overdue), 1),
        },
        "made_up": {"number": len(expected), "formed": sum(run.formed for run in expected)},
        "no": {"number": len(refused), "formed": sum(refused)},
    }


def said_no(result: dict[str, Any]) -> bool:
    """Whether the command would answer that the text should form no head."""
    return all(steps is None for steps in result["said"])


def formed(result: dict[str, Any]) -> bool:
    """Whether there was a head that attends as one and saves loss on repeated sequences."""
    prefix, first, second = (np.array(result[name]) for name in ("prefix", "first", "second"))
    curves = ((prefix, LEVEL), (first - second, SAVED))
    return all(math.isfinite(first_crossing(result["steps"], *curve)) for curve in curves)


if __name__ == "__main__":
    found = rates_of(Path("data"))
    RATES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(found)
