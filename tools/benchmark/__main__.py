"""python -m tools.benchmark: dense against fast, the machine's floor, and what else was tried."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console
from rich.table import Table

from running.devices import resolve_device

from . import report, trainings
from .cases import Section2, Section4, section2_steps
from .machine import describe

console = Console()


@click.command()
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda")
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="the number of threads for a step; by default one for each core",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="the file to which the JSON is written"
)
@click.option("--quick", is_flag=True, help="use toy sizes, to test that everything runs")
def main(device: str, threads: int | None, output: Path | None, quick: bool) -> None:
    """Measure what the fast methods cost beside the dense ones, in one run on one machine."""
    try:
        where = resolve_device(device)
    except ValueError as error:
        sys.exit(f"{error}.")
    if threads:
        torch.set_num_threads(threads)
    results = measure(where, quick)
    path = output or Path("_build", "benchmark", f"{where.type}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    show(results)
    console.print(f"written to {path}")


def measure(device: torch.device, quick: bool) -> dict[str, Any]:
    """Every measurement of one run."""
    torch.backends.cuda.matmul.allow_tf32 = False
    budget = 0.01 if quick else 2.0  # seconds a measurement
    machine = describe(device, budget, quick)
    section2 = [Section2(dim) for dim in ((16, 32, 64) if quick else report.SECTION2)]
    sizes = ((2, 4, 8), (3, 4, 8)) if quick else report.SECTION4
    section4 = [Section4(*size) for size in sizes]
    over_pairs = tuple(Section4(n, 4, 8) for n in (2, 4, 8)) if quick else report.OVER_PAIRS
    over_dim = tuple(Section4(2, d, 8) for d in (4, 8, 16)) if quick else report.OVER_DIMENSIONS
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "section2": report.compared(section2, machine, device, 3 * budget),
        "section2_steps": section2_steps(),
        "section4": report.compared(section4, machine, device, 3 * budget),
        "sampling": [report.sampling(case, device, budget) for case in section4],
        "emergence": [report.emergence(n, budget) for n in ((10,) if quick else report.PAIRS)],
        "scaling": [
            report.scaling(over_pairs, "n_pairs", device, budget),
            report.scaling(over_dim, "dim", device, budget),
        ],
        "trainings": [
            trainings.row(name, *started, machine, device, budget)
            for name, started in trainings.long_trainings("smoke" if quick else "paper").items()
        ],
        "tried": report.tried(device, budget, quick),
    }


def show(results: dict[str, Any]) -> None:
    """Print the run as tables."""
    machine = results["machine"]
    console.print(
        f"{machine['name']}, {machine['threads']} threads, torch {machine['torch']}: "
        f"{machine['product_rate'] / 1e9:.0f} GFLOP/s, {machine['copy_rate'] / 1e9:.1f} GB/s"
    )
    table = Table("one training step", "dense", "fast", "dense/fast", "fast/floor", "peak MB")
    for row in results["section2"] + results["section4"]:
        steady = "" if row["steady"] else " unsteady"
        table.add_row(
            row["case"],
            _seconds(row["dense"]),
            _seconds(row["fast"]),
            f"{row['ratio']['median']:.1f}{steady}",
            f"{row['over_floor']:.2f}",
            " / ".join(_megabytes(row["peak_bytes"][m]) for m in ("dense", "fast")),
        )
    console.print(table)
    table = Table("a step of a chapter's training", "time", "GFLOP", "MB", "calls", "time/floor")
    for row in results["trainings"]:
        asked = row["operations"] / 1e9, row["bytes"] / 1e6, row["calls"]
        counts = (f"{count:.3g}" for count in asked)
        table.add_row(row["name"], _seconds(row["step"]), *counts, f"{row['over_floor']:.2f}")
    console.print(table)
    table = Table("the rest", "time", "against")
    for row in results["sampling"]:
        table.add_row(f"sampling, {row['case']}", _seconds(row["sample"]), "")
    for row in results["emergence"]:
        table.add_row(f"emergence times, N = {row['n_pairs']}", _seconds(row["times"]), "")
    for row in results["scaling"]:
        for method, fit in row["exponents"].items():
            power = f"power {fit['slope']:.2f} ({fit['low']:.2f} to {fit['high']:.2f})"
            table.add_row(f"{method} against {row['over']}", power, "")
    for row in results["tried"]:
        if reason := row.get("not_measured"):
            table.add_row(row["name"], f"not measured: {reason}", "")
        else:
            against = f"{row['ratio']['median']:.1f} times ours"
            table.add_row(row["name"], _seconds(row["theirs"]), against)
    console.print(table)


def _seconds(value: dict[str, float]) -> str:
    return f"{1e3 * value['median']:.3g} ms ({1e3 * value['low']:.3g} to {1e3 * value['high']:.3g})"


def _megabytes(value: int | None) -> str:
    return "not measured" if value is None else f"{value / 1e6:.0f}"


if __name__ == "__main__":
    main()
