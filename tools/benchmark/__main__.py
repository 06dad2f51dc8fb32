"""python -m tools.benchmark: dense against fast, and the floor that this machine implies."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import torch

from .cases import Section2, Section4, section2_steps
from .measure import compared, describe_machine, emergence, scaling

SIZES = ((4, 16, 512), (16, 16, 512), (32, 16, 512), (16, 32, 256), (64, 64, 256))


@click.command()
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="the number of threads for a step; by default one for each core",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="the file to which the JSON is written"
)
@click.option("--quick", is_flag=True, help="use toy sizes, to test that everything runs")
def main(threads: int | None, output: Path | None, quick: bool) -> None:
    """Measure what the fast methods cost beside the dense ones, in one run on one machine."""
    if threads:
        torch.set_num_threads(threads)
    results = measure(quick)
    path = output or Path("_build", "benchmark", "cpu.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for row in results["section2"] + results["section4"]:
        ratio, floor = row["ratio"]["median"], row["over_floor"]
        click.echo(f"{row['case']}: dense over fast {ratio:.1f}, fast over its floor {floor:.2f}")
    click.echo(f"written to {path}")


def measure(quick: bool) -> dict[str, Any]:
    """Every measurement of one run."""
    budget = 0.01 if quick else 2.0  # seconds a measurement
    size, count = (256, 2**20) if quick else (2048, 2**26)
    machine = describe_machine(budget, size=size, count=count)
    section2 = [Section2(dim) for dim in ((16,) if quick else (256, 1024, 2048))]
    section4 = [Section4(*sizes) for sizes in (SIZES[:1] if quick else SIZES)]
    batch_size = 2 if quick else 128
    over_pairs = [Section4(n, 16, batch_size) for n in (8, 16, 32, 64)]
    over_dim = [Section4(16, d, batch_size) for d in (16, 32, 64, 128)]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "section2": compared(section2, machine, 3 * budget),
        "section2_steps": section2_steps(),
        "section4": compared(section4, machine, 3 * budget),
        "emergence": [emergence(10 if quick else 10**6, budget)],
        "scaling": [scaling(over_pairs, "n_pairs", budget), scaling(over_dim, "dim", budget)],
    }


if __name__ == "__main__":
    main()
