"""The command line: python -m bookbuild --help lists the commands."""

import errno
import json
import shutil
import signal
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from .errors import BookError
from .execution.display import choose_display
from .execution.lock import nothing_runs
from .execution.sweeps import read_grid, run_sweep
from .ledger.claims import count
from .ledger.pages import KINDS
from .notebooks.publish import write_beside, write_branch
from .pipeline import Result, build_book, run_chapters
from .results.executed import NOTEBOOK_FILE
from .results.inventory import inventory, readable_age, readable_size
from .results.inventory import prune as remove_unneeded
from .results.store import reason, write_whole
from .settings import (
    CELL_TIMEOUT,
    DEVICES,
    PARTS,
    PROFILES,
    Settings,
    core_count,
    default_jobs,
    one_of,
    resolve_device,
    whole_number,
)
from .site.pdf import write_pdf
from .source.chapters import listed_files, read_chapter, read_chapters, read_toc

NO_FAULT_OF_OURS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG)

console = Console()


@click.group()
def commands() -> None:
    """Build the book."""


def _run_options(command: Any) -> Any:
    """Add the options that say how chapters are executed."""
    for name, default, text in (
        ("--timeout", str(CELL_TIMEOUT), "seconds a cell may take"),
        ("--jobs", str(default_jobs()), "chapters executed at once"),
        ("--seed", "0", "seed handed to the chapters"),
        ("--device", "auto", ", ".join(DEVICES)),
        ("--profile", "paper", ", ".join(PROFILES)),
    ):
        command = click.option(name, default=default, show_default=True, help=text)(command)
    return command


@commands.command()
@_run_options
@click.option("--part", help=", ".join(PARTS))
def build(part: str | None, **options: str) -> None:
    """Execute what is missing, judge the ledger, build and check the site."""
    settings = _settings(part=part, **options)
    result = build_book(settings, choose_display(console), _tell)
    _print_result(result, settings)


@commands.command()
@click.argument("name")
@_run_options
def chapter(name: str, **options: str) -> None:
    """Execute one chapter; print what it measured and where its notebook lies."""
    settings = _settings(part=None, **options)
    chosen = read_chapter(settings.root, name)
    found, made = run_chapters([chosen], settings, choose_display(console), _tell)
    entry = (found | made)[name]
    for key, measure in entry.measures.items():
        _tell(f"{key} = {json.dumps(measure['value'])}")
    path = settings.executed / f"{name}.ipynb"
    write_whole(path, entry.files[NOTEBOOK_FILE])
    _tell(f"executed notebook: {path.relative_to(settings.root)}")


@commands.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--device", default="auto", show_default=True, help=", ".join(DEVICES))
@click.option("--jobs", default=str(core_count()), show_default=True, help="runs at once here")
@click.option("--scheduler", help="address of a Dask scheduler, tcp://host:port")
def sweep(config: Path, device: str, jobs: str, scheduler: str | None) -> None:
    """Compute a declared grid of runs into the store: data/sweeps/figure5.yml."""
    settings = Settings(
        Path.cwd(), device=resolve_device(device), jobs=whole_number("JOBS", jobs, least=1)
    )
    read_grid(config, settings.device)  # a slip is told at once
    run_sweep(config, settings, scheduler)


@commands.command()
@click.argument("out", type=click.Path(path_type=Path))
@_run_options
def notebooks(out: Path, **options: str) -> None:
    """Write the published branch's tree, executed notebooks, to a new folder."""
    settings = _settings(part=None, **options)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    found, made = run_chapters(chapters, settings, choose_display(console), _tell)
    write_branch(out, chapters, found | made, settings)
    _tell(f"notebooks: {out} ({len(chapters)} chapters, {len(made)} executed now)")


@commands.command()
@click.option("--published", help="commit of the published branch, for its outputs")
def convert(published: str | None) -> None:
    """Write a notebook beside each chapter, as postBuild does on Binder."""
    root = Path.cwd()
    found = write_beside(read_chapters(root, read_toc(root)), published, root)
    _tell(f"{len(found)} notebooks, {sum(found.values())} of them with stored outputs")


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
        _tell(f"serving the site on http://127.0.0.1:{port} (Ctrl-C ends it)")
        server.serve_forever()


@commands.command()
@click.option("--profile", default="paper", show_default=True, help=", ".join(PROFILES))
def pdf(profile: str) -> None:
    """Print the built site into one PDF."""
    settings = Settings(Path.cwd(), one_of("PROFILE", profile, PROFILES))
    target = settings.site.parent / "book.pdf"
    pages = [f"{name}.html" for name in listed_files(read_toc(settings.root))]
    sheets = write_pdf(settings.site, pages, target)
    _tell(f"PDF: {target.relative_to(settings.root)} ({sheets} sheets)")


@commands.command()
def results() -> None:
    """List what is stored: age, size, key, and whether the current book needs it."""
    items = inventory(Settings(Path.cwd()))
    if not items:
        _tell("Nothing is stored yet.")
    for item in items:
        age, size = readable_age(item.seconds_old), readable_size(item.size)
        _tell(f"{age:>8} {size:>9}  {item.state:8}  {item.key}  {item.name}  {item.made_for}")


@commands.command()
def prune() -> None:
    """Remove what is stored and the current book does not need."""
    with nothing_runs(Path.cwd()):
        gone = remove_unneeded(Settings(Path.cwd()))
    freed = readable_size(sum(item.size for item in gone))
    _tell(f"{len(gone)} stored results removed, {freed}")


@commands.command()
def clean() -> None:
    """Remove everything that was built."""
    with nothing_runs(Path.cwd()):
        shutil.rmtree(Settings(Path.cwd()).build, ignore_errors=True)


def main() -> None:
    """Run the command line; end in one sentence for each problem, without a traceback."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        commands(standalone_mode=False)
    except BookError as error:
        sys.exit(str(error))
    except click.ClickException as error:
        sys.exit(error.format_message())
    except OSError as error:
        if error.errno not in NO_FAULT_OF_OURS:
            raise
        where = f" ({error.filename})" if error.filename else ""
        sys.exit(f"Nothing can be written here{where}: {reason(error)}. What was finished is kept.")
    except (KeyboardInterrupt, click.Abort):
        sys.exit("Interrupted; what was finished is kept and the next run goes on from there.")


def _settings(part: str | None, **options: str) -> Settings:
    """Return the settings the options stand for; raise BookError for one that is wrong."""
    return Settings(
        root=Path.cwd(),
        profile=one_of("PROFILE", options["profile"], PROFILES),
        device=resolve_device(options["device"]),
        seed=whole_number("SEED", options["seed"], least=0),
        jobs=whole_number("JOBS", options["jobs"], least=1),
        part=part,
        timeout=whole_number("TIMEOUT", options["timeout"], least=1),
    )


def _print_result(result: Result, settings: Settings) -> None:
    """Print the verdicts, the claims that did not hold, the time spent and the site's place."""
    counts = count(result.findings)
    table = Table("", *(verdict for verdict in next(iter(counts.values()), {})))
    for kind, verdicts in counts.items():
        table.add_row(KINDS[kind], *map(str, verdicts.values()))
    console.print(table)
    for verdict in ("contradicted", "partly"):
        for finding in result.findings:
            if finding.verdict == verdict:
                claim = finding.claim
                _tell(f"{verdict}: {claim.id} ({KINDS[claim.kind]}; {claim.source})")
    _tell(
        f"{result.executed} chapters executed in {result.seconds_executed:.0f} s, "
        f"{result.cached} from the store ({result.seconds_cached:.0f} s saved)"
    )
    _tell(f"site: {(settings.site / 'index.html').relative_to(settings.root)}")


def _tell(line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
