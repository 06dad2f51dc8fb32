"""Write the records of data/ anew: python -m tools.records --help lists them."""

import json
import shutil
from pathlib import Path
from typing import Any

import click

from bookbuild.cli import main
from bookbuild.cli.options import (
    PART,
    commands,
    console,
    run_options,
    settings_of,
    tell,
    whole,
)
from bookbuild.execution.display import choose_display

from .cold_build import run_cold_build
from .timing import record_timings

SEGMENT = 1.5  # seconds of one core that a training gets when its whole time is estimated


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
@whole("--minutes", "of one core, after which no other run is begun", "10")
def timings(minutes: int) -> None:
    """Estimate what those stored runs take that nobody has timed."""
    path = record_timings(Path.cwd(), SEGMENT, 60.0 * minutes, tell)
    tell(f"times of stored runs: {path.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
