"""Commands that execute chapters and runs, show the book, and publish and check its results."""

import math
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import display_of
from bookbuild.execution.runs import run_stored
from bookbuild.ledger.claims import Finding, judge_chapter, read_claims
from bookbuild.ledger.counts import KINDS, checks_of
from bookbuild.ledger.evidence import read_evidence
from bookbuild.pipeline import build_book, run_chapters, write_release
from bookbuild.published.scratch import recompute, reproduce_from_scratch
from bookbuild.published.verify import summary, verify_archive
from bookbuild.reporting.expectations import Check
from bookbuild.results.archive import NAME, open_archive, write_archive
from bookbuild.results.executed import NOTEBOOK_FILE
from bookbuild.results.snapshot import COMPILED
from bookbuild.results.store import write_whole
from bookbuild.settings import BuildSettings, core_count
from bookbuild.site.build import served
from bookbuild.site.lint import check_book
from bookbuild.site.numbers import quoted_in
from bookbuild.site.pieces import without_formulas
from bookbuild.source.chapters import read_chapter, read_chapters, read_toc

from . import options
from .options import commands, run_options, settings_of, tell, whole_number

TEMPLATE = Path(__file__).parents[1] / "template"
WIDTH = 100  # in characters, where the output is no terminal
AS_EXPECTED = "as expected"
RENEW = (
    "as expected: what was measured fits. On the page of verdicts such a row reads partly until "
    "make record has repeated it."
)
READ = "Measured: the mean, with the least and the most of n seeds; or the range over settings."


@commands.command()
@run_options
@options.RESULTS
@options.FROM
def build(start: str | None, **given: Any) -> None:
    """Execute what is missing, judge the ledger, and build and check the site if needed."""
    settings = settings_of(**given)
    if start is not None:
        result, settings = reproduce_from_scratch(settings, display_of(tell), tell)
    else:
        result = build_book(settings, display_of(tell), tell)
    for line in result.told:
        tell(line)
    tell(f"{result.executed} chapters executed, {result.cached} from the store")
    tell(f"profile {settings.profile} · device {settings.device} · seed {settings.seed}")
    tell(f"site: {(settings.site / 'index.html').relative_to(Path.cwd())}")


@commands.command()
@click.argument("names", nargs=-1, required=True)
@run_options
@options.FROM
@options.CHANGES
def chapter(names: tuple[str, ...], start: str | None, **given: Any) -> None:
    """Execute chapters, and print their checks, their claims and where their notebooks are."""
    settings = settings_of(**given)
    every = read_chapters(settings.root, read_toc(settings.root))
    chosen = [read_chapter(settings.root, name) for name in names]
    claims = read_claims(settings.root, [chapter.name for chapter in (*every, *chosen)])
    evidence = read_evidence(settings.root)
    if settings.changes:
        taking = ", ".join(x.name for x in every if x.takes_settings)
        others = f"; the chapters that do are {taking}" if taking else ", and no other does"
        raise_if_any(
            f"Chapter {x.name} takes no settings{others}." for x in chosen if not x.takes_settings
        )
    if start is not None:
        settings = recompute(settings, chosen, tell)
        chosen = [read_chapter(settings.root, name) for name in names]
    stored, executed = run_chapters(chosen, settings, display_of(tell), tell)
    judged = settings.judged
    for one in chosen:
        entry = (stored | executed)[one.name]
        quoted = quoted_in(settings.root, {one.name: entry.measures})
        findings, remarks = judge_chapter(claims, one.name, entry.measures, quoted, judged=judged)
        findings, _ = evidence.weigh(findings, [one], settings)
        checks = checks_of({one.name: entry.measures}, judged=judged).get(one.name, {})
        path = settings.site.parent / "chapters" / f"{one.name}.ipynb"
        write_whole(path, entry.files[NOTEBOOK_FILE])
        tell(f"{one.name}: the executed notebook is {path.relative_to(Path.cwd())}")
        print_tables(findings, checks.values())
        for line in (*remarks, *why_not_judged(settings)):
            tell(line)


@commands.command()
def check() -> None:
    """Check the sources of the book without executing anything, as each build does first."""
    _, chapters, claims = check_book(Path.cwd())
    tell(f"no slip found in {len(chapters)} chapters and {len(claims)} claims")


@commands.command()
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Write a small book that works into a new folder, to change into one of your own."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BookError(f"{folder} is there already: name a folder that is not.")
    shutil.copytree(TEMPLATE, folder, dirs_exist_ok=True, ignore=COMPILED)
    tell(f"{folder}: change its pages, src and data/claims.yml, and run bookbuild build in there")


@commands.command()
@options.PROFILE
@whole_number("--port", "the port of the address on this machine", 8000)
def serve(profile: str, port: int) -> None:
    """Serve the built site on this machine."""
    site = BuildSettings(Path.cwd(), profile).site
    if not site.is_dir():
        raise BookError(f"There is no site yet: run make reproduce PROFILE={profile}.")
    with served(site, port) as address:
        tell(f"serving the site on {address} (Ctrl-C ends it)")
        Event().wait()


@commands.command()
@click.argument("name")
@whole_number(
    "--minutes", "stop after so many minutes; the next call continues each run from its last state"
)
@options.DEVICE
@options.JOBS
@click.option("--new", is_flag=True, help="only what the file does not have from any code")
def runs(name: str, minutes: int | None, device: str, jobs: int | None, new: bool) -> None:
    """Compute the stored runs that the file NAME lacks or that other code has made."""
    settings = BuildSettings(Path.cwd(), device=device, jobs=jobs or core_count())
    left = run_stored(name, settings, minutes or 0, new=new)
    tell(f"{name}: {len(left)} stored runs are left to compute" if left else f"{name}: complete")


@commands.command()
@run_options
@options.RESULTS
def archive(**given: Any) -> None:
    """Pack what the executed chapters measured and asked for into one file, as in a release."""
    settings = settings_of(**given)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    path = settings.build / "release" / NAME
    written = write_archive(path, chapters, settings)
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    tell(f"{path}: {len(chapters)} chapters, {len(written.results)} results of tasks, {size}")


@commands.command()
@run_options
@options.RESULTS
def release(**given: Any) -> None:
    """Write everything that a release contains: site, results, notebooks, how to cite."""
    folder = write_release(settings_of(**given), display_of(tell), tell)
    tell(f"{folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


@commands.command()
@click.option("--results", required=True, help="a file, folder or address of published results")
@click.option("--chapter", "names", default="", help="chapters to recompute, with blanks between")
@whole_number("--minutes", "stop after so many minutes; 5 by default, where no chapter is named")
@options.DEVICE
@options.JOBS
def verify(results: str, names: str, minutes: int | None, device: str, jobs: int | None) -> None:
    """Recompute published chapters, and say which of their numbers come out as published."""
    settings = settings_of(device, jobs)
    archive = open_archive(options.fetched(results, settings))
    tell(f"made on {archive.device} of {archive.machine}, at {archive.commit}, as it says itself")
    spend = minutes or (math.inf if names else 5)
    rows = verify_archive(settings, archive, tell, names.split(), spend)
    if not {row.grade for row in rows} <= {"equal", "agrees", "not recomputed"}:
        raise BookError(summary(rows))
    tell(summary(rows))


def print_tables(findings: Collection[Finding], checks: Collection[Check]) -> None:
    """Print the claims of a chapter by their kinds, its checks, and how many claims hold."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for kind, title in KINDS.items():
        rows = [_row(finding) for finding in findings if finding.claim.kind == kind]
        _print(console, (title, "Measured", "Expected", "Verdict"), rows, leading=1)
    checked = [[check.what, check.value, check.bound, check.outcome] for check in checks]
    _print(console, ("Checks of this page", "Measured", "Expected", "Outcome"), checked)
    counts = Counter(_verdict(finding).partition(":")[0] for finding in findings)
    if findings:
        console.print(f"Claims: {', '.join(f'{n} {verdict}' for verdict, n in counts.items())}.")
        console.print(READ)
    if AS_EXPECTED in counts:
        console.print(RENEW)


def _print(
    console: Console, head: Sequence[str], rows: Sequence[Sequence[str]], leading: int = 0
) -> None:
    table = Table(*head, box=box.SIMPLE_HEAD, pad_edge=False, leading=leading)
    for row in rows:
        table.add_row(*map(Text, row))
    if rows:
        console.print(table)


def why_not_judged(settings: BuildSettings) -> Iterator[str]:
    """Yield a sentence for each reason why nothing is judged; none in a build that judges."""
    if settings.changes:
        changed = " ".join(f"{name}={value}" for name, value in settings.changes.items())
        yield f"Nothing is judged, because these settings are not those of the page: {changed}."
    if settings.profile != "paper":
        yield (
            f"Nothing is judged, because PROFILE={settings.profile} has toy sizes, and the claims "
            "are about those of the paper."
        )


def _row(finding: Finding) -> list[str]:
    claim, measured = finding.claim, finding.measured
    statement = without_formulas(claim.headline or claim.statement)
    expected = str(claim.expectation or "")
    return [f"{claim.id}\n{statement}", str(measured or ""), expected, _verdict(finding)]


def _verdict(finding: Finding) -> str:
    """Return the verdict, and in how much a claim holds that holds in part."""
    claim, measured = finding.claim, finding.measured
    if finding.unconfirmed:
        return AS_EXPECTED
    if finding.verdict != "partly" or not measured or not claim.expectation:
        return str(finding.verdict)
    if claim.expectation.verdict(measured) == "reproduced":
        return "partly: as expected here, and not at every other first seed"
    return f"partly: {claim.expectation.holding(measured)}"
