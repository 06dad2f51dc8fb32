"""What the commands share: their group, their options, and the printing of a line."""

from pathlib import Path
from typing import Any

import click

from bookbuild.published.fetch import borrowing, locate
from bookbuild.settings import (
    CELL_TIMEOUT,
    DEVICES,
    PROFILES,
    BuildSettings,
    default_jobs,
    resolve_device,
)
from bookbuild.source.chapters import read_toc


def whole_number(name: str, text: str, default: int | None = None, *, least: int = 1) -> Any:
    """Return an option that is a whole number, of one or more."""
    kind = click.IntRange(min=least)
    return click.option(name, type=kind, default=default, show_default=True, help=text)


PROFILE: Any = click.option(
    "--profile", type=click.Choice(PROFILES), default="paper", show_default=True,
    help="the paper's sizes, or tiny ones",
)  # fmt: skip
DEVICE: Any = click.option(
    "--device", type=click.Choice(DEVICES), default="auto", show_default=True,
    help="where networks are trained", callback=lambda _, __, given: resolve_device(given),
)  # fmt: skip
FROM: Any = click.option(
    "--from",
    "start",
    type=click.Choice(("scratch",)),
    help="scratch: compute everything again, including stored runs",
)
RESULTS: Any = click.option(
    "--results", help="a file, folder or address of published results, to use where they fit"
)
JOBS = whole_number(
    "--jobs",
    "how many at once; by default one for each core, of chapters up to 4; on a GPU one for two "
    "cores, up to 6",
)


@click.group()
def commands() -> None:
    """Build the book."""


def run_options(command: Any) -> Any:
    """Add the options that say how chapters are executed."""
    timeout = whole_number("--timeout", "the number of seconds that a cell may take", CELL_TIMEOUT)
    seed = whole_number("--seed", "the seed that the chapters get", 0, least=0)
    for option in (timeout, JOBS, seed, DEVICE, PROFILE):
        command = option(command)
    return command


def settings_of(
    device: str, jobs: int | None, results: str | None = None, **options: Any
) -> BuildSettings:
    """Return the settings that the options stand for; what RESULTS names is fetched."""
    settings = BuildSettings(
        Path.cwd(), device=device, jobs=jobs or default_jobs(device), **options
    )
    return settings if results is None else borrowing(settings, fetched(results, settings))


def fetched(results: str, settings: BuildSettings) -> Path:
    """Return the archive that RESULTS names; outside a book nothing is fetched."""
    read_toc(settings.root)
    return locate(results, settings.build / "published", tell)


def tell(line: str) -> None:
    """Print a line."""
    click.echo(line)
