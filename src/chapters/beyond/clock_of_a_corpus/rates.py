"""How often the answers of the clock were right, which its command says beside them.

`python -m chapters.beyond.clock_of_a_corpus.rates` reads the stored trainings and writes
src/emergence/command/rates.json.
"""

import json
import math
from pathlib import Path
from statistics import median
from typing import Any

from emergence import clock

from . import untaught
from .natural.outcomes import Outcomes
from .reading import StoredCells

RATES = Path(clock.__file__).parents[1] / "command" / "rates.json"


def rates_of(data: Path) -> dict[str, dict[str, Any]]:
    """Trainings for which the clock said yes, on natural and on made-up texts, and no.

    `ratios` are the least and the largest of measured over predicted steps where a head formed,
    `overdue` counts trainings without a head that was predicted within their budget, and `wrong`
    are the factors by which the clock and the mean of the other texts are wrong.
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
    file, errors = data / "clock_untaught.json", outcomes.errors()
    if file.is_file():
        stored = untaught.RUNS.read(file.read_text(encoding="utf-8"))
        refused += [untaught.formed(result) for result in stored.values() if result["no"]]
    return {
        "natural": {
            "number": len(natural),
            "formed": len(ratios),
            "median": round(median(ratios), 1),
            "ratios": [min(ratios), max(ratios)],
            "overdue": len(overdue),
            "longest": round(max(run.cell.steps / run.predicted for run in overdue), 1),
            "wrong": [round(errors[name], 1) for name in ("the clock", "the other texts")],
        },
        "made_up": {"number": len(expected), "formed": sum(run.formed for run in expected)},
        "no": {"number": len(refused), "formed": sum(refused)},
    }


if __name__ == "__main__":
    RATES.write_text(json.dumps(rates_of(Path("data")), indent=1) + "\n", encoding="utf-8")
