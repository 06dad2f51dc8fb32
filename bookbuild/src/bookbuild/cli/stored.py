"""Commands for stored results and stored runs."""

from pathlib import Path

import click
from rich.filesize import decimal as readable_size

from bookbuild.errors import BookError
from bookbuild.execution.lock import nothing_runs
from bookbuild.execution.sweeps import read_grid, run_stored, run_sweep
from bookbuild.results.inventory import prune as remove_unneeded
from bookbuild.settings import Settings, core_count

from .options import DEVICE, commands, tell, whole


@commands.command()
@click.argument("config")
@DEVICE
@whole(
    "--jobs", "how many runs at once on this machine; by default one for each core, or one on a GPU"
)
@click.option("--scheduler", help="the address of a Dask scheduler, tcp://host:port")
def sweep(config: str, device: str, jobs: int | None, scheduler: str | None) -> None:
    """Compute the grid of runs that a file declares, and keep the results in the store."""
    most = 1 if device == "cuda" else core_count()
    settings = Settings(Path.cwd(), device=device, jobs=jobs or most)
    if not (path := Path(config)).is_file():
        raise BookError(f"CONFIG must name a file that declares a grid of runs, not {config!r}.")
    read_grid(path, settings.device)  # a slip is told at once
    run_sweep(path, settings, scheduler)


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
    left = run_stored(name, settings, scheduler, minutes)
    tell(f"{name}: {len(left)} stored runs are left to compute" if left else f"{name}: complete")


@commands.command()
def prune() -> None:
    """Remove the stored results that the current book does not need."""
    with nothing_runs(Path.cwd()):
        gone = remove_unneeded(Settings(Path.cwd()))
    freed = readable_size(sum(gone))
    tell(f"{len(gone)} stored results removed, {freed}")
