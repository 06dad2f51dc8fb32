"""What the commands share: their group, their options, and the printing of a line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bookbuild.published.fetch import borrowing, check_not_refused, locate
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
from bookbuild.source.chapters import read_toc

console = Console()


def checked(name: str, check: Callable[[str], Any], text: str, default: str | None = None) -> Any:
    """Return an option whose text click turns into what `check` makes of it."""

    def made(_: object, __: object, given: str | None) -> Any:
        return None if given is None else check(given)

    return click.option(name, default=default, show_default=True, help=text, callback=made)


def whole(name: str, text: str, default: str | None = None, *, least: int = 1) -> Any:
    """Return an option that is a whole number, of one or more; BookError for another."""
    variable = name.removeprefix("--").upper()
    return checked(name, lambda given: whole_number(variable, given, least=least), text, default)


DEVICE = checked("--device", resolve_device, ", ".join(DEVICES), "auto")
PART = click.option("--part", help="build only the chapters of this folder of the book")
PROFILE = checked(
    "--profile", lambda given: one_of("PROFILE", given, PROFILES), ", ".join(PROFILES), "paper"
)

FROM: Any = click.option(
    "--from",
    "start",
    callback=lambda _, __, given: given if given is None else one_of("FROM", given, ("scratch",)),
    help="scratch: compute everything again, including stored runs",
)

RESULTS: Any = click.option(
    "--results", help="a file, folder or address of published results, to use where they fit"
)


@click.group()
def commands() -> None:
    """Build the book."""


def run_options(command: Any) -> Any:
    """Add the options that say how chapters are executed."""
    for option in (
        whole("--timeout", "the number of seconds that a cell may take", str(CELL_TIMEOUT)),
        whole(
            "--jobs",
            "how many chapters are executed at once; by default one for each core up to 4, and "
            "on a GPU one for two cores up to 6",
        ),
        whole("--seed", "the seed that the chapters get", "0", least=0),
        DEVICE,
        PROFILE,
    ):
        command = option(command)
    return command


def settings_of(
    device: str, jobs: int | None, results: str | None = None, **options: Any
) -> Settings:
    """Return the settings that the options stand for; what RESULTS names is fetched."""
    settings = Settings(Path.cwd(), device=device, jobs=jobs or default_jobs(device), **options)
    if results is None:
        return settings
    read_toc(settings.root)  # outside a book nothing is fetched
    path = locate(results, settings.build / "published", tell)
    check_not_refused(path, settings.build / "published")
    return borrowing(settings, path)


def tell(line: str) -> None:
    """Print a line."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)
