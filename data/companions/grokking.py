"""Compute the long runs of the grokking chapter: python data/companions/grokking.py

About ten minutes of direction ladder, thirty of training at p = 37, and three at other p, on one
core. Writes grokking.json beside this script.
"""

import platform
from dataclasses import asdict, replace
from pathlib import Path

import torch

from emergence.companions import grokking
from emergence.companions.grokking import first_layer, stored, training

TARGET = Path(__file__).with_suffix(".json")
SEEDS = range(5)


def main() -> None:
    """Compute everything with one thread, and write it beside this script."""
    torch.set_num_threads(1)
    settings = grokking.PRESET["paper"].settings
    simulation, real = settings.simulation, settings.real
    trained = {
        name: [training.train(simulation, each, s, label=name) for s in SEEDS]
        for name, each in (("real", real), ("equal", settings.equal), ("slowed", settings.slowed))
    }
    predicted = {"predicted": [first_layer.simulate(simulation, s) for s in SEEDS]}
    for name, each in (("ridge", real), ("ridge_equal", settings.equal)):
        alone = stored.isolated(simulation, each)
        predicted[name] = [first_layer.simulate(alone, s, ridge=each.decay) for s in SEEDS]
    tables = {
        "provenance": {
            "command": "python data/companions/grokking.py",
            "versions": [f"python {platform.python_version()}", f"torch {torch.__version__}"],
            "seeds": [f"{list(SEEDS)}; of the ladder {list(settings.ladder.seeds)}"],
        },
        "direction": stored.ladder(settings.ladder),
        "network": {
            name: stored.runs_table(paths) for name, paths in (trained | predicted).items()
        },
        "moduli": stored.moduli(simulation, settings.moduli),
        "settings": {"settings": asdict(replace(settings, ladder=None))},
    }
    TARGET.write_text(stored.write(tables), encoding="ascii")


if __name__ == "__main__":
    main()
