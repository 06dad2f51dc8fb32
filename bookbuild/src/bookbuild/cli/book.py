"""Commands that execute chapters and runs, and show the book."""

import json
import shutil
from pathlib import Path
from threading import Event
from typing import Any

import click
from rich.filesize import decimal as readable_size
from rich.table import Table

from bookbuild.errors import BookError
from bookbuild.execution.display import choose_display
from bookbuild.execution.lock import nothing_runs
from bookbuild.execution.sweeps import read_grid, run_stored, run_sweep
from bookbuild.notebooks.publish import committed, write_beside, write_branch
from bookbuild.pipeline import renew_book, run_chapters
from bookbuild.published.scratch import recompute, reproduce_from_scratch
from bookbuild.results.executed import NOTEBOOK_FILE
from bookbuild.results.inventory import prune as remove_unneeded
from bookbuild.results.snapshot import COMPILED
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings, core_count
from bookbuild.site.pdf import write_pdf
from bookbuild.site.serving import served
from bookbuild.source.chapters import listed_files, read_chapter, read_chapters, read_toc

from .options import (
    DEVICE,
    FROM,
    JOBS,
    PROFILE,
    RESULTS,
    commands,
    console,
    run_options,
    settings_of,
    tell,
    whole,
)

TEMPLATE = Path(__file__).parents[1] / "template"
SCHEDULER: Any = click.option(
    "--scheduler", help="the address of a Dask scheduler, tcp://host:port"
)


@commands.command()
@run_options
@RESULTS
@FROM
def build(start: str | None, **options: Any) -> None:
    """Execute what is missing, judge the ledger, and build and check the site if needed."""
    settings, display = settings_of(**options), choose_display(console)
    if start is not None:
        told, settings = reproduce_from_scratch(settings, display, tell)
    else:
        told = renew_book(settings, display, tell)
    head, *rows = told.verdicts
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for line in told.amiss:
        tell(line)
    tell(
        f"{told.executed} chapters executed in {told.seconds_executed:.0f} s, "
        f"{told.cached} from the store ({told.seconds_cached:.0f} s saved)"
    )
    tell(f"profile {settings.profile} · device {settings.device} · seed {settings.seed}")
    tell(f"site: {(settings.site / 'index.html').relative_to(Path.cwd())}")


@commands.command()
@click.argument("names", nargs=-1, required=True)
@run_options
@FROM
def chapter(names: tuple[str, ...], start: str | None, **options: Any) -> None:
    """Execute chapters and print what they measured and where their notebooks are."""
    settings = settings_of(**options)
    chosen = [read_chapter(settings.root, name) for name in names]
    if start is not None:
        settings = recompute(settings, chosen, tell)
        chosen = [read_chapter(settings.root, name) for name in names]
    found, made = run_chapters(chosen, settings, choose_display(console), tell)
    for name in names:
        entry = (found | made)[name]
        for key, measure in entry.measures.items():
            tell(f"{key} = {json.dumps(measure['value'])}")
        path = settings.site.parent / "chapters" / f"{name}.ipynb"
        write_whole(path, entry.files[NOTEBOOK_FILE])
        tell(f"executed notebook: {path.relative_to(Path.cwd())}")


@commands.command()
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Write a small book that works into a new folder, to change into one of your own."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BookError(f"{folder} is there already: name a folder that is not.")
    shutil.copytree(TEMPLATE, folder, dirs_exist_ok=True, ignore=COMPILED)
    tell(f"{folder}: change its pages, src and data/claims.yml; bookbuild build, run in there,")
    tell("executes the pages, judges the claims and builds the site")


@commands.command()
@click.argument("out", type=click.Path(path_type=Path))
@run_options
def notebooks(out: Path, **options: Any) -> None:
    """Write the executed notebooks, as on the published branch, to a new folder."""
    settings = settings_of(**options)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    committed(settings.root)
    found, made = run_chapters(chapters, settings, choose_display(console), tell)
    write_branch(out, chapters, found | made, settings)
    tell(f"notebooks: {out} ({len(chapters)} chapters, {len(made)} executed now)")


@commands.command()
@click.option("--published", help="the commit of the published branch whose outputs are used")
def convert(published: str | None) -> None:
    """Write a notebook beside each chapter, as postBuild does on Binder."""
    root = Path.cwd()
    found = write_beside(read_chapters(root, read_toc(root)), published, root)
    tell(f"{len(found)} notebooks, {sum(found.values())} of them with stored outputs")


@commands.command()
@PROFILE
@whole("--port", "the port of the address on this machine", 8000)
def serve(profile: str, port: int) -> None:
    """Serve the built site on this machine."""
    site = Settings(Path.cwd(), profile).site
    if not site.is_dir():
        raise BookError(f"There is no site yet: run python -m bookbuild build --profile {profile}.")
    with served(site, port) as address:
        tell(f"serving the site on {address} (Ctrl-C ends it)")
        Event().wait()


@commands.command()
@PROFILE
def pdf(profile: str) -> None:
    """Print the built site into one PDF."""
    settings = Settings(Path.cwd(), profile)
    target = settings.site.parent / "book.pdf"
    pages = [f"{name}.html" for name in listed_files(read_toc(settings.root))]
    sheets = write_pdf(settings.site, pages, target)
    tell(f"PDF: {target.relative_to(settings.root)} ({sheets} sheets)")


@commands.command()
@click.argument("config")
@DEVICE
@JOBS
@SCHEDULER
def sweep(config: str, device: str, jobs: int | None, scheduler: str | None) -> None:
    """Compute the grid of runs that a file declares, and keep the results in the store."""
    if not (path := Path(config)).is_file():
        raise BookError(f"CONFIG must name a file that declares a grid of runs, not {config!r}.")
    read_grid(path, device)  # a slip is told at once
    most = 1 if device == "cuda" else core_count()
    run_sweep(path, Settings(Path.cwd(), device=device, jobs=jobs or most), scheduler)


@commands.command()
@click.argument("name")
@whole(
    "--minutes", "stop after so many minutes; the next call continues each run from its last state"
)
@JOBS
@SCHEDULER
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
    tell(f"{len(gone)} stored results removed, {readable_size(sum(gone))}")
