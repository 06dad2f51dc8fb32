"""Commands that execute chapters and show the book."""

import json
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
from rich.table import Table

from bookbuild.afresh import run_afresh
from bookbuild.errors import BookError
from bookbuild.execution.display import choose_display
from bookbuild.execution.rounding import ROUNDINGS
from bookbuild.notebooks.publish import write_beside, write_branch
from bookbuild.pipeline import renew_book, run_chapters
from bookbuild.published.fetch import locate
from bookbuild.results.executed import NOTEBOOK_FILE
from bookbuild.results.store import write_whole
from bookbuild.robust import first_seeds, rounded, run_robust
from bookbuild.settings import PARTS, PROFILES, Settings, one_of, whole_number
from bookbuild.site.pdf import write_pdf
from bookbuild.site.seal import Told
from bookbuild.source.chapters import listed_files, read_chapter, read_chapters, read_toc

from .options import commands, console, run_options, settings_of, tell


@commands.command()
@run_options
@click.option("--part", help=", ".join(PARTS))
@click.option("--results", help="file, folder or address of published results, used where they fit")
def build(part: str | None, results: str | None, **options: str) -> None:
    """Execute what is missing, judge the ledger, build and check the site, if anything changed."""
    settings = settings_of(part=part, **options)
    if results is not None:
        published = locate(results, settings.build / "published", tell)
        settings = replace(settings, published=published)
    _print_told(renew_book(settings, choose_display(console), tell), settings)


@commands.command()
@click.argument("name")
@run_options
def chapter(name: str, **options: str) -> None:
    """Execute one chapter; print what it measured and where its notebook lies."""
    settings = settings_of(part=None, **options)
    chosen = read_chapter(settings.root, name)
    found, made = run_chapters([chosen], settings, choose_display(console), tell)
    entry = (found | made)[name]
    for key, measure in entry.measures.items():
        tell(f"{key} = {json.dumps(measure['value'])}")
    path = settings.executed / f"{name}.ipynb"
    write_whole(path, entry.files[NOTEBOOK_FILE])
    tell(f"executed notebook: {path.relative_to(settings.root)}")


@commands.command()
@run_options
@click.option("--part", help=", ".join(PARTS))
@click.option("--seeds", default="3", show_default=True, help="how many other first seeds")
@click.option("--rounding", help=f"not other seeds but one of {', '.join(ROUNDINGS)}")
@click.option("--scheduler", help="address of a Dask scheduler, tcp://host:port")
def robust(
    part: str | None, seeds: str, rounding: str | None, scheduler: str | None, **options: str
) -> None:
    """Measure the ledger again, at other first seeds or under another rounding, and record it."""
    settings = settings_of(part=part, **options)
    wanted = first_seeds(whole_number("SEEDS", seeds, least=1))
    if rounding is not None:
        settings, wanted = rounded(settings, rounding), (0,)
    path = run_robust(settings, wanted, choose_display(console), tell, scheduler)
    under = f" under the rounding {rounding}" if rounding else ""
    tell(f"measured at the first seeds {', '.join(map(str, wanted))}{under}: {path}")


@commands.command()
@run_options
@click.option("--part", help=", ".join(PARTS))
def afresh(part: str | None, **options: str) -> None:
    """Execute every chapter with no result to start from, and record how long each takes."""
    path = run_afresh(settings_of(part=part, **options), choose_display(console), tell)
    took = json.loads(path.read_text(encoding="utf-8"))
    tell(f"{len(took['chapters'])} chapters in {took['seconds'] / 60:.1f} minutes: {path}")


@commands.command()
@click.argument("out", type=click.Path(path_type=Path))
@run_options
def notebooks(out: Path, **options: str) -> None:
    """Write the published branch's tree, executed notebooks, to a new folder."""
    settings = settings_of(part=None, **options)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    found, made = run_chapters(chapters, settings, choose_display(console), tell)
    write_branch(out, chapters, found | made, settings)
    tell(f"notebooks: {out} ({len(chapters)} chapters, {len(made)} executed now)")


@commands.command()
@click.option("--published", help="commit of the published branch, for its outputs")
def convert(published: str | None) -> None:
    """Write a notebook beside each chapter, as postBuild does on Binder."""
    root = Path.cwd()
    found = write_beside(read_chapters(root, read_toc(root)), published, root)
    tell(f"{len(found)} notebooks, {sum(found.values())} of them with stored outputs")


@commands.command()
@click.option("--profile", default="paper", show_default=True, help=", ".join(PROFILES))
@click.option("--port", default="8000", show_default=True)
def serve(profile: str, port: str) -> None:
    """Serve the built site on this machine."""
    site = Settings(Path.cwd(), one_of("PROFILE", profile, PROFILES)).site
    if not site.is_dir():
        raise BookError(f"There is no site yet: run make book PROFILE={profile} first.")
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", whole_number("PORT", port, least=1)), handler)
    except (OSError, OverflowError) as error:
        raise BookError(f"Port {port} cannot be used: {error}.") from error
    with server:
        tell(f"serving the site on http://127.0.0.1:{port} (Ctrl-C ends it)")
        server.serve_forever()


@commands.command()
@click.option("--profile", default="paper", show_default=True, help=", ".join(PROFILES))
def pdf(profile: str) -> None:
    """Print the built site into one PDF."""
    settings = Settings(Path.cwd(), one_of("PROFILE", profile, PROFILES))
    target = settings.site.parent / "book.pdf"
    pages = [f"{name}.html" for name in listed_files(read_toc(settings.root))]
    sheets = write_pdf(settings.site, pages, target)
    tell(f"PDF: {target.relative_to(settings.root)} ({sheets} sheets)")


def _print_told(told: Told, settings: Settings) -> None:
    """Print verdicts, what a GPU did, claims that did not hold, the time and the site's place."""
    for head, *rows in filter(None, (told.verdicts, told.devices)):
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
    tell(f"site: {(settings.site / 'index.html').relative_to(settings.root)}")
