"""Commands about published results: they are written, and checked."""

import secrets
from pathlib import Path
from typing import Any, get_args

import click

from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import choose_display
from bookbuild.published.draw import ALTERED, chance, some
from bookbuild.published.fetch import locate
from bookbuild.published.verify import Grade, Report
from bookbuild.published.verify import verify as verify_archive
from bookbuild.release.deposit import SERVER
from bookbuild.release.deposit import deposit as write_deposit
from bookbuild.release.pack import release as write_release
from bookbuild.results.archive import NAME, open_archive, write_archive
from bookbuild.results.inventory import readable_size
from bookbuild.settings import Settings
from bookbuild.source.chapters import read_chapters, read_toc

from .options import DEVICE, PROFILE, commands, console, run_options, settings_of, tell, whole

GRADES: tuple[Grade, ...] = get_args(Grade)


@commands.command()
@run_options
def archive(**options: Any) -> None:
    """Pack the executed chapters and their trainings, as a release carries them."""
    settings = settings_of(**options)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    path = settings.build / "release" / NAME
    written = write_archive(path, chapters, settings)
    size, trainings = readable_size(path.stat().st_size), len(written.of_kind("sweep"))
    tell(f"{path}: {len(chapters)} chapters, {trainings} trainings, {size}")


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
    page, doi = write_deposit(Settings(Path.cwd(), profile).build / "release", token, server)
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
    report = verify_archive(settings, open_archive(path), minutes, seed, tell)
    _print_report(report, seed)
    raise_if_any(_wrong(report))


def _print_report(report: Report, seed: int) -> None:
    """Print what was drawn and what that says about the rest."""
    drawn, count = len(report.outcomes), len(report.candidates)
    if report.stale:
        names = ", ".join(sorted({item.name for item in report.stale}))
        tell(f"not compared, for their code or device is another here: {names}")
    found = (f"{report.count(grade)} {grade}" for grade in GRADES if report.count(grade))
    tell(f"drawn with DRAW={seed}: {drawn} of {count} results; {', '.join(found) or 'none fits'}")
    tell(f"of {report.rows} judged rows of the ledger, {report.covered} were measured again")
    if drawn:
        altered = some(count)
        tell(
            f"if one published result in {ALTERED} were altered ({altered} of {count}, whichever), "
            f"a draw of this size would meet one in {chance(count, drawn, altered):.0%} of cases"
        )


def _wrong(report: Report) -> list[str]:
    """Return the sentences that end the command where something is wrong."""
    if not (report.damaged or report.outcomes):
        return ["Every stored byte is as published, but nothing was computed again: MINUTES=."]
    if report.sound:
        tell("verified: every stored byte is as published, and nothing that was drawn differs")
        return []
    wrong = report.count("differs") + report.count("failed")
    last = f"Not verified: {len(report.damaged)} damaged, {wrong} that differ."
    return [*report.damaged, last]
