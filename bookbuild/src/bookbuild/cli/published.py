"""Commands that write published results and check them."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.filesize import decimal as readable_size

from bookbuild.errors import raise_if_any
from bookbuild.execution.display import Display
from bookbuild.pipeline import build_book
from bookbuild.published.fetch import borrowing
from bookbuild.published.pages import differences
from bookbuild.published.verify import verify_archive
from bookbuild.release import write_release
from bookbuild.results.archive import NAME, open_archive, write_archive
from bookbuild.source.chapters import read_chapters, read_toc

from .options import (
    DEVICE,
    JOBS,
    RESULTS,
    commands,
    fetched,
    run_options,
    settings_of,
    tell,
    whole,
)


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
    folder = write_release(settings, Display(tell), tell)
    for path in sorted(folder.iterdir()):
        size = readable_size(path.stat().st_size) if path.is_file() else ""
        tell(f"{path.relative_to(settings.root)} {size}".strip())


@commands.command()
@click.option("--results", required=True, help="a file, folder or address of published results")
@whole("--minutes", "how many minutes to spend on computing results again", 5)
@click.option("--site", help="a published site.zip, to be compared with the one that is built here")
@whole("--draw", "the seed of the random sample; a random one by default", least=0)
@DEVICE
@JOBS
def verify(
    results: str, minutes: int, site: str | None, draw: int | None, device: str, jobs: int | None
) -> None:
    """Read all published results, and compute a random sample of them again."""
    settings = settings_of(device, jobs)
    path = fetched(results, settings)
    published = open_archive(path)
    seed = secrets.randbelow(10**9) if draw is None else draw
    report = verify_archive(settings, published, minutes, seed, tell)
    for line in report.lines():
        tell(line)
    raise_if_any(report.problems())
    close = " (to 1% if made elsewhere)" if report.count("equal to 1%") else ""
    but = f", except {len(report.stale)} that were not compared" if report.stale else ""
    tell(f"verified: the published results are sound, and the sample is equal{close}{but}")
    if site is not None:
        settings = borrowing(
            replace(settings, profile=published.profile, seed=published.seed), path
        )
        build_book(settings, Display(tell), tell)
        raise_if_any(differences(Path(site), settings.site))
        tell(f"{site} has the pages, numbers and figures of the site that was built here")
