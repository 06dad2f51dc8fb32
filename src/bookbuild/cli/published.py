"""Commands that write published results and check them."""

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
    """Pack the executed chapters and their trainings into one file, as in a release."""
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
    """Write everything that a release contains: site, results, notebooks, PDF, descriptions."""
    settings = settings_of(**options)
    folder = write_release(settings, choose_display(console), tell)
    for path in sorted(folder.iterdir()):
        size = readable_size(path.stat().st_size) if path.is_file() else ""
        tell(f"{path.relative_to(settings.root)} {size}".strip())


@commands.command()
@PROFILE
@click.option(
    "--server", default=SERVER, show_default=True, help="a server that has the interface of Zenodo"
)
@click.option(
    "--token", envvar="ZENODO_TOKEN", help="the access token; by default the value of ZENODO_TOKEN"
)
def deposit(profile: str, server: str, token: str | None) -> None:
    """Upload the release to Zenodo as a draft, which reserves its DOI."""
    if not token:
        raise BookError(
            "A deposit needs an access token: set the environment variable ZENODO_TOKEN."
        )
    page, doi = deposit_release(Settings(Path.cwd(), profile).build / "release", token, server)
    tell(f"Zenodo has a draft with the DOI {doi}: check it and publish it on {page}")


@commands.command()
@click.option("--results", required=True, help="a file, folder or address of published results")
@whole("--minutes", "how many minutes to spend on computing results again", "5")
@whole("--draw", "the seed of the random sample; a random one by default", least=0)
@DEVICE
@whole("--jobs", "how many results at once; by default one for each core up to 4, or one on a GPU")
def verify(results: str, minutes: int, draw: int | None, device: str, jobs: int | None) -> None:
    """Check all bytes of published results, and compute a random sample of them again."""
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
        why = "because they are not published, are of other code, or need packages that are missing"
        tell(f"{len(report.stale)} results are not compared, {why}: {_some(report.stale)}")
    found = (f"{report.count(grade)} {grade}" for grade in GRADES if report.count(grade))
    tell(
        f"drawn with DRAW={seed}: {drawn} of {len(draw.costs)} results; "
        f"{', '.join(found) or 'none was finished'}"
    )
    if report.unfinished:
        tell(f"not verified, because the time was up: {', '.join(report.unfinished)}")
    for stratum in draw.strata:
        share = stratum.finished / stratum.count
        tell(
            f"  of {stratum.count} results that take up to {stratum.dearest:.0f} s, "
            f"{stratum.finished} were computed again, which finds an altered one in {share:.0%} "
            "of cases"
        )
    if draw.never:
        most = math.ceil(max(draw.costs[name] for name in draw.never) / 60)
        tell(
            f"  {len(draw.never)} results take too long to be drawn in this time: "
            f"{_some(draw.never)}"
        )
        tell(f"  to include them, run: make verify RESULTS={results} MINUTES={most}")
    tell(
        f"if one of these results were altered, this check would find it in {draw.chance:.0%} of "
        "cases"
    )
    tell(
        f"of {report.rows} judged rows of the ledger, {report.measured} were measured again from "
        f"scratch; {report.reading} are in chapters that read stored values"
    )


def _some(names: Sequence[str]) -> str:
    """Return the first names of many."""
    return f"{', '.join(names[:MANY])}{', …' if len(names) > MANY else ''}"


def _wrong(report: Report) -> list[str]:
    """Return the sentences that end the command where something is wrong."""
    if not (report.damaged or report.outcomes):
        return [
            "All stored bytes are as published, but no result was computed again: give more "
            "MINUTES."
        ]
    if not report.sound:
        wrong = report.count("differs") + report.count("failed")
        last = f"Not verified: {len(report.damaged)} results are damaged and {wrong} differ."
        return [*report.damaged, last]
    if report.count("undecided"):
        return [
            f"Not verified: {report.count('undecided')} results differ by more than 1%, and they "
            "were "
            "made on another machine or with other versions: repeat the check on such a machine."
        ]
    close = " (to 1% if made elsewhere)" if report.count("equal to 1%") else ""
    but = f", except {len(report.stale)} that were not compared" if report.stale else ""
    tell(f"verified: the published results are complete, and the sample is equal{close}{but}")
    return []
