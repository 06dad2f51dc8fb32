"""What carrying a record over an edit can miss: python -m tools.mutation.witness [--jobs 2].

Every hand-written fault in a source is planted as if it were an edit that changes no number, and
each chapter that sees it is executed in the smoke profile before and after. The fault is refused
if a measure or an array of a figure differs, or if it changes constants, for then the paper
profile is asked. Definitions in which a fault was missed are written to data/witness.json: an edit
of one of them is looked at in the paper profile too. Trials are kept like those of the drill.

Ends with 1 if fewer than 97% are refused.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from bookbuild.ledger.stored import WITNESS
from bookbuild.results.code.definitions import reached_by_cells
from bookbuild.settings import core_count
from bookbuild.source.chapters import read_chapter
from tools.records.carry import constants

from .mutation.__main__ import executors
from .mutation.catalogue import FAULTS
from .mutation.fault import ROOT, Fault, planted
from .mutation.trial import Settings, Trial

LEAST = 0.97


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=core_count())
    parser.add_argument("--minutes", type=float, default=float("inf"))
    asked = parser.parse_args()
    deadline = time.monotonic() + 60 * asked.minutes
    settings = Settings("smoke", timeout=300.0)
    planted_ = [fault for fault in FAULTS if fault.file.startswith("src/")]
    refused: set[str] = set()
    tried: set[str] = set()
    complaints: list[str] = []
    with executors(asked.jobs) as pool:
        for name in sorted({name for fault in planted_ for name in fault.chapters}):
            faults = [fault for fault in planted_ if name in fault.chapters]
            trials = dict(pool.tried(name, [None, *faults], settings, deadline, complaints))
            sound = trials.pop(None, None)
            for fault, trial in trials.items():
                assert isinstance(fault, Fault)
                assert sound is not None
                tried.add(fault.name)
                if differs(sound, trial) or sizes_differ(fault, name):
                    refused.add(fault.name)
    missed = [fault for fault in planted_ if fault.name in tried - refused]
    record = {
        "tried": len(tried),
        "refused": len(refused),
        "missed": [{"fault": fault.name, "says": fault.says} for fault in missed],
        "blind": sorted({place for fault in missed for place in changed(fault)}),
    }
    (ROOT / WITNESS).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print("\n".join([*complaints, *(f"missed: {fault.name}: {fault.says}" for fault in missed)]))
    print(f"{len(refused)} of {len(tried)} faults refused")
    return 0 if tried and len(refused) >= LEAST * len(tried) else 1


def differs(sound: Trial, faulty: Trial) -> bool:
    """Whether a fault shows in a number: a measure, an array of a figure, or an error."""
    return (sound.measures, sound.arrays) != (faulty.measures, faulty.arrays) or bool(faulty.errors)


def sizes_differ(fault: Fault, chapter: str) -> bool:
    """Whether a fault changes a number or a text in a constant, a class or a cell."""
    with planted(fault) as folder:
        return constants(read_chapter(folder, chapter), folder) != constants(
            read_chapter(ROOT, chapter), ROOT
        )


def changed(fault: Fault) -> set[str]:
    """The names of the definitions that a fault changes, in whatever module they lie."""
    with planted(fault) as folder:
        return {
            place.partition(":")[2]
            for name in fault.chapters
            for place in _apart(folder, ROOT, name)
        }


def _apart(one: Path, two: Path, name: str) -> set[str]:
    found = [
        reached_by_cells(
            (cell.source for cell in read_chapter(root, name).code), root / "src", shown=False
        ).own
        for root in (one, two)
    ]
    return {place for place in found[0].keys() & found[1] if found[0][place] != found[1][place]}


if __name__ == "__main__":
    sys.exit(main())
