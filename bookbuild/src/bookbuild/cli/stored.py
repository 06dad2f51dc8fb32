"""Command for stored runs."""

from pathlib import Path

import click

from bookbuild.execution.runs import run_stored
from bookbuild.settings import Settings, core_count

from .options import commands, tell, whole


@commands.command()
@click.argument("name")
@whole(
    "--minutes", "stop after so many minutes; the next call continues each run from its last state"
)
@whole("--jobs", "how many runs at once on this machine; by default one for each core")
@click.option("--scheduler", help="the address of a Dask scheduler, tcp://host:port")
def runs(name: str, minutes: int | None, jobs: int | None, scheduler: str | None) -> None:
    """Compute the stored runs that the file NAME lacks or that other code has made."""
    settings = Settings(Path.cwd(), jobs=jobs or core_count())
    left = run_stored(name, settings, scheduler, minutes or 0)
    tell(f"{name}: {len(left)} stored runs are left to compute" if left else f"{name}: complete")
