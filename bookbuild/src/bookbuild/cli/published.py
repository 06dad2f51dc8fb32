"""Commands that write published results and check them."""

import math
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click
from rich.filesize import decimal as readable_size

from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import choose_display
from bookbuild.pipeline import renew_book
from bookbuild.published.check import WRONG, Grade
from bookbuild.published.fetch import borrowing, locate, refuse
from bookbuild.published.pages import differences
from bookbuild.published.signature import signed
from bookbuild.published.verify import Report, verify_archive
from bookbuild.release.pack import SERVER, deposit_release
from bookbuild.release.pack import release as write_release
from bookbuild.results.archive import NAME, open_archive, write_archive
from bookbuild.settings import Settings
from bookbuild.source.chapters import read_chapters, read_toc

from .options import (
    DEVICE,
    PROFILE,
    RESULTS,
    commands,
    console,
    run_options,
    settings_of,
    tell,
    whole,
)

MANY = 12  # names in a line
SEEN = {"measures": "measures", "figures": "the data of figures", "tasks": "results of tasks"}
GRADES: tuple[Grade, ...] = get_args(Grade)


@commands.command()
@run_options
@RESULTS
def archive(**options: Any) -> None:
    """Pack what the executed chapters measured and asked for into one file, as in a release."""
    settings = settings_of(**options)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    path = settings.build / "release" / NAME
    written = write_archive(path, chapters, settings)
    size = readable_size(path.stat().st_size)
    tell(f"{path}: {len(chapters)} chapters, {len(written.results)} results of tasks, {size}")


@commands.command()
@run_options
@RESULTS
def release(**options: Any) -> None:
    """Write everything that a release contains: site, results, notebooks, descriptions."""
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
@click.option("--site", help="a published site.zip, to be compared with the one that is built here")
@whole("--draw", "the seed of the random sample; a random one by default", least=0)
@DEVICE
@whole("--jobs", "how many results at once; by default one for each core up to 4, or one on a GPU")
def verify(
    results: str,
    minutes: int,
    site: str | None,
    draw: int | None,
    device: str,
    jobs: int | None,
) -> None:
    """Read all published results, and compute a random sample of them again."""
    settings = settings_of(device, jobs)
    seed = secrets.randbelow(10**9) if draw is None else draw
    read_toc(settings.root)  # outside a book nothing is fetched
    path = locate(results, settings.build / "published", tell)
    tell(signed(path, settings.root))
    opened = open_archive(path)
    report = verify_archive(settings, opened, minutes, seed, tell)
    _print_report(report, seed, results)
    wrong = _wrong(report)
    if not report.sound:
        refuse(path, settings.build / "published", wrong)
    raise_if_any(wrong)
    _tell_verified(report)
    if site is not None:
        settings = borrowing(replace(settings, profile=opened.profile, seed=opened.seed), path)
        renew_book(settings, choose_display(console), tell)
        raise_if_any(differences(Path(site), settings.site))
        tell(f"{site} has the pages, numbers and figures of the site that was built here")


def _print_report(report: Report, seed: int, results: str) -> None:
    """Print what was drawn, what never could be, and what that says about the rest."""
    draw, drawn = report.draw, len(report.outcomes)
    if report.stale:
        why = "because they are not published or are of other code"
        tell(f"{len(report.stale)} chapters are not compared, {why}: {_some(report.stale)}")
    found = (f"{report.count(grade)} {grade}" for grade in GRADES if report.count(grade))
    tell(
        f"drawn with DRAW={seed}: {drawn} of {len(draw.costs)} chapters; "
        f"{', '.join(found) or 'none was finished'}"
    )
    for stratum in draw.strata:
        share = stratum.finished / stratum.count
        tell(
            f"  of {stratum.count} chapters that take up to {stratum.dearest:.0f} s, "
            f"{stratum.finished} were computed again, which finds an altered one in {share:.0%} "
            "of cases"
        )
    if draw.never:
        most = math.ceil(max(draw.costs[name] for name in draw.never) / 60)
        tell(
            f"  {len(draw.never)} chapters take too long to be drawn in this time: "
            f"{_some(draw.never)}"
        )
        order = f"python -m bookbuild verify --minutes {most} --results {shlex.quote(results)}"
        tell(f"  to include them, run: {order}")
    tell(
        f"if one of these chapters were altered, this check would find it in {report.least:.0%} of "
        f"cases if a forger chose it, and in {draw.chance:.0%} if it were any of them"
    )
    shares = ", ".join(f"{share:.1%} of {SEEN[kind]}" for kind, share in report.seen.items())
    tell(f"in a chapter that is drawn, a number that is changed by 2% would be seen in {shares}")
    tell(
        f"of {report.rows} judged rows of the ledger, {report.measured} were measured again from "
        f"scratch; {report.reading} are in chapters that read stored values"
    )


def _some(names: Sequence[str]) -> str:
    """Return the first names of many."""
    return f"{', '.join(names[:MANY])}{', …' if len(names) > MANY else ''}"


def _wrong(report: Report) -> list[str]:
    """Return the sentences that end the command where something is wrong or is not known."""
    wrong = []
    if not report.sound:
        count = sum(report.count(grade) for grade in WRONG)
        wrong.append(f"Not verified: {count} chapters differ from what was published.")
    if report.count("undecided"):
        wrong.append(
            f"{report.count('undecided')} of them differ by more than 1% and turn no verdict, and "
            "were made on another machine or with other versions: repeat the check on such a one."
        )
    if report.unfinished:
        names = ", ".join(report.unfinished)
        wrong.append(
            f"Not verified: the time was up while {names} was computed: give more MINUTES."
        )
    if not (report.outcomes or wrong):
        wrong.append("No chapter was computed again: give more MINUTES.")
    return wrong


def _tell_verified(report: Report) -> None:
    close = " (to 1% if made elsewhere)" if report.count("equal to 1%") else ""
    but = f", except {len(report.stale)} that were not compared" if report.stale else ""
    tell(f"verified: the published results are sound, and the sample is equal{close}{but}")
