"""Commands about published results: they are written, and checked."""

import math
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
from rich.filesize import decimal as readable_size

from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import choose_display
from bookbuild.execution.runs import stored_runs
from bookbuild.published.check import Grade
from bookbuild.published.fetch import locate, refuse
from bookbuild.published.signature import signed
from bookbuild.published.verify import Report, verify_archive
from bookbuild.release.deposit import SERVER, deposit_release
from bookbuild.release.pack import release as write_release
from bookbuild.results.archive import NAME, open_archive, write_archive
from bookbuild.results.snapshot import sources
from bookbuild.settings import Settings
from bookbuild.source.chapters import read_chapters, read_toc

from .options import DEVICE, PROFILE, commands, console, run_options, settings_of, tell, whole

MANY = 12  # names in a line
GRADES: tuple[Grade, ...] = get_args(Grade)


@commands.command()
@run_options
def archive(**options: Any) -> None:
    """Pack the executed chapters and their trainings, as a release carries them."""
    settings = settings_of(**options)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    path = settings.build / "release" / NAME
    runs = [run.stored for run in stored_runs(settings.root, sources(settings))]
    written = write_archive(path, chapters, settings, runs)
    size, trainings = readable_size(path.stat().st_size), len(written.of_kind("sweep"))
    counted = f"{len(chapters)} chapters, {trainings} trainings, {len(runs)} stored runs"
    tell(f"{path}: {counted}, {size}")


@commands.command()
@run_options
def release(**options: Any) -> None:
    """Write all that a release consists of: site, results, notebooks, PDF, descriptions."""
    settings = settings_of(**options)
    folder = write_release(settings, choose_display(console), tell)
    for path in sorted(folder.iterdir()):
        size = readable_size(path.stat().st_size) if path.is_file() else ""
        tell(f"{path.relative_to(settings.root)} {size}".strip())


@commands.command()
@PROFILE
@click.option("--server", default=SERVER, show_default=True, help="with Zenodo's interface")
@click.option("--token", envvar="ZENODO_TOKEN", help="for access; by default from ZENODO_TOKEN")
def deposit(profile: str, server: str, token: str | None) -> None:
    """Upload the release to Zenodo as a draft, which reserves its DOI."""
    if not token:
        raise BookError("A deposit needs an access token: set ZENODO_TOKEN.")
    page, doi = deposit_release(Settings(Path.cwd(), profile).build / "release", token, server)
    tell(f"a draft with the DOI {doi}: look at it and publish it on {page}")


@commands.command()
@click.option("--results", required=True, help="file, folder or address of published results")
@whole("--minutes", "time for computing again", "5")
@whole("--draw", "number that decides what is drawn; a random one by default", least=0)
@DEVICE
@whole("--jobs", "results at once; all cores, up to 4, or one on a GPU")
def verify(results: str, minutes: int, draw: int | None, device: str, jobs: int | None) -> None:
    """Read published results whole, and compute a random sample of them again."""
    settings = settings_of(device, jobs)
    seed = secrets.randbelow(10**9) if draw is None else draw
    read_toc(settings.root)  # outside a book nothing is fetched
    path = locate(results, settings.build / "published", tell)
    tell(signed(path, settings.root))
    report = verify_archive(settings, open_archive(path), minutes, seed, tell)
    _print_report(report, seed, results)
    wrong = _wrong(report)
    if not report.sound or report.count("undecided"):
        refuse(path, settings.build / "published", wrong)
    raise_if_any(wrong)


def _print_report(report: Report, seed: int, results: str) -> None:
    """Print what was drawn, what never could be, and what that says about the rest."""
    draw, drawn = report.draw, len(report.outcomes)
    if report.stale:
        why = "for they are not published, of other code, or need what is not installed"
        tell(f"{len(report.stale)} are not compared, {why}: {_some(report.stale)}")
    found = (f"{report.count(grade)} {grade}" for grade in GRADES if report.count(grade))
    tell(
        f"drawn with DRAW={seed}: {drawn} of {len(draw.costs)} results; "
        f"{', '.join(found) or 'none was finished'}"
    )
    if report.unfinished:
        tell(f"stopped when time was up, and not verified: {', '.join(report.unfinished)}")
    for stratum in draw.strata:
        share = stratum.finished / stratum.count
        tell(
            f"  of {stratum.count} results that take up to {stratum.dearest:.0f} s, "
            f"{stratum.finished} were computed again: an altered one is met in {share:.0%} of cases"
        )
    if draw.never:
        most = math.ceil(max(draw.costs[name] for name in draw.never) / 60)
        tell(f"  {len(draw.never)} can never be drawn in this time: {_some(draw.never)}")
        tell(f"  each could be drawn with: make verify RESULTS={results} MINUTES={most}")
    tell(
        f"one altered result of these, whichever, would have been met in {draw.chance:.0%} of cases"
    )
    tell(
        f"of {report.rows} judged rows of the ledger, {report.measured} were measured again from "
        f"nothing; {report.reading} stand in chapters that read stored values"
    )


def _some(names: Sequence[str]) -> str:
    """Return the first names of many."""
    return f"{', '.join(names[:MANY])}{', …' if len(names) > MANY else ''}"


def _wrong(report: Report) -> list[str]:
    """Return the sentences that end the command where something is wrong."""
    if not (report.damaged or report.outcomes):
        return ["Every stored byte is as published, but nothing was computed again: MINUTES=."]
    if not report.sound:
        wrong = report.count("differs") + report.count("failed")
        last = f"Not verified: {len(report.damaged)} damaged, {wrong} that differ."
        return [*report.damaged, last]
    if report.count("undecided"):
        return [
            f"Not verified: {report.count('undecided')} differ by more than 1%, and say that they "
            "were made on another machine or with other versions. Such a machine can decide."
        ]
    close = " to 1%, where they were made elsewhere" if report.count("equal to 1%") else ""
    but = f", but for the {len(report.stale)} that were not compared" if report.stale else ""
    tell(f"verified: what was published is whole, and what was drawn is equal{close}{but}")
    return []
