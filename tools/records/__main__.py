"""Write the records of data/ anew: python -m tools.records --help lists them."""

import json
import shutil
from pathlib import Path
from typing import Any

import click

from bookbuild.cli import main
from bookbuild.cli.options import (
    DEVICE,
    PART,
    commands,
    console,
    run_options,
    settings_of,
    tell,
    whole,
)
from bookbuild.errors import BookError
from bookbuild.execution.display import choose_display
from bookbuild.execution.rounding import ROUNDINGS

from .carry import run_carry
from .cold_build import run_cold_build
from .machine import write_machine
from .seed_sensitivity import first_seeds, rounded, run_seed_sensitivity
from .timing import record_timings

SEGMENT = 1.5  # seconds of one core that a training gets when its whole time is estimated


@commands.command()
@whole("--jobs", "how many chapters are executed at once; by default one for each core, up to 4")
def carry(jobs: int | None) -> None:
    """Carry the records over an edit that changed no number; end with 1 where it changed one."""
    left = run_carry(settings_of("cpu", jobs), choose_display(console), tell)
    if left:
        raise BookError(
            f"The records of these chapters could not be carried over: {', '.join(left)}."
        )


@commands.command()
@run_options
@PART
@whole("--seeds", "how many other first seeds", "3")
@click.option(
    "--rounding",
    help=f"measure under another rounding instead of other seeds: {', '.join(ROUNDINGS)}",
)
@click.option("--scheduler", help="the address of a Dask scheduler, tcp://host:port")
def seeds(seeds: int, rounding: str | None, scheduler: str | None, **options: Any) -> None:
    """Measure the ledger again, at other first seeds or under another rounding, and record it."""
    settings = settings_of(**options)
    wanted = first_seeds(seeds)
    if rounding is not None:
        settings, wanted = rounded(settings, rounding), (0,)
    path = run_seed_sensitivity(settings, wanted, choose_display(console), tell, scheduler)
    under = f" under the rounding {rounding}" if rounding else ""
    tell(f"measured at the first seeds {', '.join(map(str, wanted))}{under}: {path}")


@commands.command()
@run_options
@PART
@click.option(
    "--output", type=click.Path(path_type=Path), help="a second file to which the record is written"
)
def cold_build(output: Path | None, **options: Any) -> None:
    """Execute every chapter with no result to start from, and record how long each takes."""
    path = run_cold_build(settings_of(**options), choose_display(console), tell)
    if output is not None:
        shutil.copy2(path, output)
    took = json.loads(path.read_text(encoding="utf-8"))
    tell(f"{len(took['chapters'])} chapters in {took['seconds'] / 60:.1f} minutes: {path}")


@commands.command()
@DEVICE
def machine(device: str) -> None:
    """Write the verdicts of this machine, as make reproduce has found them here."""
    tell(f"verdicts of this machine: {write_machine(settings_of(device, 1))}")


@commands.command()
@whole("--minutes", "of one core, after which no other run is begun", "10")
def timings(minutes: int) -> None:
    """Estimate what those stored runs take that nobody has timed."""
    path = record_timings(Path.cwd(), SEGMENT, 60.0 * minutes, tell)
    tell(f"times of stored runs: {path.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
