"""How often the answers of the clock were right, which its command says beside them.

Trainings on texts for which the clock predicts no head are stored in data/clock_untaught.json.
`python -m chapters.beyond.clock_of_a_corpus.rates` reads these and the other stored trainings and
writes src/emergence/command/rates.json.
"""

import json
import math
from pathlib import Path
from statistics import median
from typing import Any, get_args

import numpy as np

from emergence import clock
from emergence.running.records import StoredRuns

from .corpora import Untaught, UntaughtKind, text_tokens
from .natural_outcomes import Outcomes
from .reading import StoredCells
from .training import CPU, LEVEL, Cell, Training, train_together

CONTEXT, BATCH, WINDOWS = 32, 16, 2048
BUDGET = 2**19  # tokens: more than three times what the easiest made-up text of this context needs
RATES = Path(clock.__file__).parents[1] / "command" / "rates.json"


def run(text: Untaught) -> dict[str, Any]:
    """Whether the clock says no of a text and of both halves, and the scores of a training."""
    tokens = text_tokens(text)
    parts = (tokens, *np.split(tokens, 2))
    counts = [clock.pulls(part, CONTEXT, windows=WINDOWS) for part in parts]
    said = [clock.steps_to_head(each, BATCH) for each in counts]
    training = Training(Cell(text, CONTEXT, BATCH, BUDGET, text.seed))
    ((_, result),) = train_together((training,), CPU, relative=False)
    return {"no": all(map(math.isinf, said)), "steps": result["steps"], "prefix": result["prefix"]}


def formed(result: dict[str, Any]) -> bool:
    """Whether there was a head that attends as one."""
    return max(result["prefix"]) >= LEVEL


RUNS = StoredRuns(
    run,
    tuple(
        Untaught(kind, size, seed)
        for kind in get_args(UntaughtKind)
        for size in (64, 128, 256)
        for seed in range(4)
    ),
)


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
    stored = RUNS.read((data / "clock_untaught.json").read_text(encoding="utf-8"))
    refused += [formed(result) for result in stored.values() if result["no"]]
    errors = outcomes.errors()
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
