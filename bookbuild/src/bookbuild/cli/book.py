"""Commands that execute chapters and runs, and show the book."""

import json
import shutil
from pathlib import Path
from threading import Event
from typing import Any

import click
from rich.table import Table

from bookbuild.errors import BookError
from bookbuild.execution.display import Display
from bookbuild.execution.runs import run_stored
from bookbuild.notebooks.publish import committed, write_branch
from bookbuild.pipeline import build_book, run_chapters
from bookbuild.published.scratch import recompute, reproduce_from_scratch
from bookbuild.results.executed import NOTEBOOK_FILE
from bookbuild.results.snapshot import COMPILED
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings, core_count
from bookbuild.site.serving import served
from bookbuild.source.chapters import read_chapter, read_chapters, read_toc

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
    settings, display = settings_of(**options), Display(tell)
    if start is not None:
        result, settings = reproduce_from_scratch(settings, display, tell)
    else:
        result = build_book(settings, display, tell)
    head, *rows = result.verdicts
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for line in result.amiss:
        tell(line)
    tell(
        f"{result.executed} chapters executed in {result.seconds_executed:.0f} s, "
        f"{result.cached} from the store ({result.seconds_cached:.0f} s saved)"
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
    stored, executed = run_chapters(chosen, settings, Display(tell), tell)
    for name in names:
        entry = (stored | executed)[name]
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
    stored, executed = run_chapters(chapters, settings, Display(tell), tell)
    write_branch(out, chapters, stored | executed, settings)
    tell(f"notebooks: {out} ({len(chapters)} chapters, {len(executed)} executed now)")


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
@click.argument("name")
@whole(
    "--minutes", "stop after so many minutes; the next call continues each run from its last state"
)
@DEVICE
@JOBS
@SCHEDULER
def runs(
    name: str, minutes: int | None, device: str, jobs: int | None, scheduler: str | None
) -> None:
    """Compute the stored runs that the file NAME lacks or that other code has made."""
    settings = Settings(Path.cwd(), device=device, jobs=jobs or core_count())
    left = run_stored(name, settings, scheduler, minutes or 0)
    tell(f"{name}: {len(left)} stored runs are left to compute" if left else f"{name}: complete")
