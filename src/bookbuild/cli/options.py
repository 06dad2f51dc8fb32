"""What the commands share: their group, the options of an execution, and a voice."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bookbuild.settings import (
    CELL_TIMEOUT,
    DEVICES,
    PROFILES,
    Settings,
    default_jobs,
    one_of,
    resolve_device,
    whole_number,
)

console = Console()


@click.group()
def commands() -> None:
    """Build the book."""


def run_options(command: Any) -> Any:
    """Add the options that say how chapters are executed."""
    for name, default, text in (
        ("--timeout", str(CELL_TIMEOUT), "seconds a cell may take"),
        ("--jobs", None, "chapters executed at once; all cores, up to 4, or one on a GPU"),
        ("--seed", "0", "seed handed to the chapters"),
        ("--device", "auto", ", ".join(DEVICES)),
        ("--profile", "paper", ", ".join(PROFILES)),
    ):
        command = click.option(name, default=default, show_default=True, help=text)(command)
    return command


def jobs_of(given: str | None, default: int) -> int:
    """Return how many jobs run at once; raise BookError for a number that is none."""
    return default if given is None else whole_number("JOBS", given, least=1)


def settings_of(part: str | None, **options: str) -> Settings:
    """Return the settings the options stand for; raise BookError for one that is wrong."""
    device = resolve_device(options["device"])
    return Settings(
        root=Path.cwd(),
        profile=one_of("PROFILE", options["profile"], PROFILES),
        device=device,
        seed=whole_number("SEED", options["seed"], least=0),
        jobs=jobs_of(options["jobs"], default_jobs(device)),
        part=part,
        timeout=whole_number("TIMEOUT", options["timeout"], least=1),
    )


def tell(line: str) -> None:
    """Print a line."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)
