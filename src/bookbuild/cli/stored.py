"""Commands about what is stored."""

import shutil
from pathlib import Path

import click

from bookbuild.execution.lock import nothing_runs
from bookbuild.execution.sweeps import read_grid, run_stored, run_sweep
from bookbuild.results.inventory import inventory, readable_age, readable_size
from bookbuild.results.inventory import prune as remove_unneeded
from bookbuild.settings import DEVICES, Settings, core_count, resolve_device, whole_number

from .options import commands, jobs_of, tell


@commands.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--device", default="auto", show_default=True, help=", ".join(DEVICES))
@click.option("--jobs", help="runs at once here; all cores, or one on a GPU")
@click.option("--scheduler", help="address of a Dask scheduler, tcp://host:port")
def sweep(config: Path, device: str, jobs: str | None, scheduler: str | None) -> None:
    """Compute a declared grid of runs into the store: data/sweeps/figure5.yml."""
    device = resolve_device(device)
    most = 1 if device == "cuda" else core_count()
    settings = Settings(Path.cwd(), device=device, jobs=jobs_of(jobs, most))
    read_grid(config, settings.device)  # a slip is told at once
    run_sweep(config, settings, scheduler)


@commands.command()
@click.argument("name")
@click.option("--minutes", help="after which it ends; a run goes on from its last state")
@click.option("--jobs", help="runs at once here; all cores by default")
@click.option("--scheduler", help="address of a Dask scheduler, tcp://host:port")
def runs(name: str, minutes: str | None, jobs: str | None, scheduler: str | None) -> None:
    """Compute the stored runs that a file lacks, or that other code made: birth, k_hop, ..."""
    settings = Settings(Path.cwd(), jobs=jobs_of(jobs, core_count()))
    limit = None if minutes is None else whole_number("MINUTES", minutes, least=1)
    left = run_stored(name, settings, scheduler, limit)
    tell(f"{name}: {len(left)} stored runs are left to compute" if left else f"{name}: whole")


@commands.command()
def results() -> None:
    """List what is stored: age, size, key, and whether the current book needs it."""
    items = inventory(Settings(Path.cwd()))
    if not items:
        tell("Nothing is stored yet.")
    for item in items:
        age, size = readable_age(item.seconds_old), readable_size(item.size)
        tell(f"{age:>8} {size:>9}  {item.state:8}  {item.key}  {item.name}  {item.made_for}")


@commands.command()
def prune() -> None:
    """Remove what is stored and the current book does not need."""
    with nothing_runs(Path.cwd()):
        gone = remove_unneeded(Settings(Path.cwd()))
    freed = readable_size(sum(item.size for item in gone))
    tell(f"{len(gone)} stored results removed, {freed}")


@commands.command()
def clean() -> None:
    """Remove everything that was built."""
    with nothing_runs(Path.cwd()):
        shutil.rmtree(Settings(Path.cwd()).build, ignore_errors=True)
