"""One PDF of the whole built site, printed by a headless Chromium."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pypdf import PdfReader, PdfWriter

from bookbuild.errors import BookError
from bookbuild.processes import ran

from . import browser
from .serving import served

SETTLING = 20_000  # virtual milliseconds for formulas to be set
SECONDS_A_PAGE = 1800  # far more than a loaded machine needs: a browser that hangs is to end


def write_pdf(site: Path, pages: Sequence[str], target: Path) -> int:
    """Print the pages in order, a bookmark each, and return the number of sheets.

    Raises BookError without a browser, without a site, and for a page that cannot be printed.
    """
    program = browser.program()
    if program is None:
        raise BookError(f"A PDF needs a browser: install one of {', '.join(browser.PROGRAMS)}.")
    missing = [page for page in pages if not (site / page).is_file()]
    if missing:
        raise BookError(f"The site has no page {missing[0]} yet: run python -m bookbuild build.")
    writer = PdfWriter()
    with served(site) as address, tempfile.TemporaryDirectory() as folder:
        for page in pages:
            sheet = Path(folder) / "page.pdf"
            _print(program, address + page, sheet, Path(folder) / "browser")
            reader = PdfReader(sheet)
            title = reader.metadata.title if reader.metadata else None
            writer.append(reader, outline_item=(title or page).partition(" — ")[0])
            sheet.unlink()
    partial = target.with_suffix(".part")
    writer.write(partial)
    partial.replace(target)
    return len(writer.pages)


def _print(program: str, url: str, target: Path, profile: Path) -> None:
    options = (
        "--headless", "--no-pdf-header-footer", f"--user-data-dir={profile}",
        f"--virtual-time-budget={SETTLING}", f"--print-to-pdf={target}",
    )  # fmt: skip
    try:
        run = ran([program, *browser.FLAGS, *options, url], timeout=SECONDS_A_PAGE)
    except subprocess.TimeoutExpired as error:
        raise BookError(f"{url} was not printed within {SECONDS_A_PAGE} s.") from error
    if run.returncode or not target.is_file():
        raise BookError(f"{url} cannot be printed: {run.stderr.strip()[-300:]}")
