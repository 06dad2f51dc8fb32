"""Try the faults and print the table: python -m tools.faults [--short] [--seed n]."""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from tools.faults import bits, cluster, disk, inputs, kills
from tools.faults.row import Row

FULL = {
    "training": 24,
    "writing": 24,
    "executing": 12,
    "flips": 240,
    "disk": 40,
    "inputs": 10_000,
    "cluster": 24,  # runs of the sweep
}
SHORT = {"training": 2, "writing": 6, "flips": 60, "disk": 8, "inputs": 400}


def rows(counts: dict[str, int], folder: Path, dice: random.Random) -> Iterator[Row]:
    """Yield a row for each kind of fault."""
    trials: list[tuple[str, Callable[[int, Path, random.Random], Row]]] = [
        ("training", kills.training),
        ("writing", kills.writing),
        ("executing", kills.executing),
        ("flips", bits.flips),
        ("disk", disk.full),
    ]
    for name, trial in trials:
        if name in counts:
            yield trial(counts[name], folder / name, dice)
    if "inputs" in counts:
        yield from inputs.generated(counts["inputs"], folder / "inputs")
    if "cluster" in counts:
        yield from cluster.rows(folder / "cluster", counts["cluster"])


def main() -> int:
    """Return 0 if nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--short",
        action="store_true",
        help="plant only a few faults of each kind, as make test does",
    )
    parser.add_argument("--only", choices=list(FULL), help="plant only this kind of fault")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    torch.set_num_threads(1)
    dice = random.Random(options.seed)
    table = Table("fault", "tried", "noticed or outlived", "lost", "remark")
    lost: list[str] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        counts = dict(SHORT if options.short else FULL)
        if options.only:
            counts = {name: count for name, count in counts.items() if name == options.only}
        for row in rows(counts, folder, dice):
            _add(table, row, lost, started)
    console = Console(width=None if sys.stdout.isatty() else 150)
    console.print(table)
    print(f"seed {options.seed}, {time.monotonic() - started:.0f} s")
    for loss in lost:
        print(f"LOST: {loss}")
    return 1 if lost else 0


def _add(table: Table, row: Row, lost: list[str], started: float) -> None:
    print(f"{time.monotonic() - started:.0f} s: {row.fault}", file=sys.stderr, flush=True)
    table.add_row(row.fault, str(row.tried), str(row.noticed), str(len(row.lost)), row.remark)
    lost.extend(f"{row.fault}: {loss}" for loss in row.lost)


if __name__ == "__main__":
    sys.exit(main())
