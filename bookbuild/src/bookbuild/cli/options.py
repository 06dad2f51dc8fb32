"""What the commands share: their group, their options, and the printing of a line."""

import json
import math
import re
from pathlib import Path
from typing import Any

import click
import yaml

from bookbuild.published.verify import borrowing, locate
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
CHANGES: Any = click.option(
    "--set",
    "changes",
    default="",
    callback=lambda _, __, given: read_changes(given),
    help='settings of the chapter to change: "n_pairs=20 learning_rate=0.7 mask=causal"',
)
JOBS = whole_number(
    "--jobs",
    "how many at once; by default one for each core, of chapters up to 4; on a GPU one for two "
    "cores, up to 6",
)

CHANGE = re.compile(r"([A-Za-z]\w*)=(.+)")


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


def read_changes(given: str) -> dict[str, Any]:
    """Return the settings that a text changes, by name; raise click.BadParameter for another."""
    changes: dict[str, Any] = {}
    for piece in given.split():
        if not (match := CHANGE.fullmatch(piece)):
            raise click.BadParameter(f"{piece!r} is not name=value; a value has no blanks.")
        if match[1] in changes:
            raise click.BadParameter(f"{match[1]!r} is set twice.")
        changes[match[1]] = _value(match[2])
    return changes


def _value(text: str) -> Any:
    """Return a number, a truth value, a text, or a list of such; raise click.BadParameter else."""
    try:
        value = json.loads(text)  # for YAML 1e-3 is a text
    except ValueError:
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = None
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str | int | float) or item in (math.inf, -math.inf) or item != item:
            raise click.BadParameter(
                f"{text!r} is no number, truth value or text, and no list of such."
            )
    return value


def tell(line: str) -> None:
    """Print a line."""
    click.echo(line)
