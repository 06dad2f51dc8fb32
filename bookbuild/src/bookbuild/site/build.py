"""The site: it is built from the stage, checked, and put in its place; and it is served."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bookbuild.errors import BookError, raise_if_any
from bookbuild.ledger.templates import CLAIMS
from bookbuild.processes import ran, sources_first
from bookbuild.reporting.notebook import FIGURES_FOLDER
from bookbuild.results.executed import Entries
from bookbuild.results.snapshot import SOURCES
from bookbuild.settings import BuildSettings

from .checks import check_figures, check_labels, check_notebooks, check_site
from .formulas import add_formulas
from .pages import add_cards, add_narrow, add_policies
from .pieces import DATA

PROBLEM = re.compile("WARNING|ERROR")
RAISED = re.compile(r"[\w.]*(Error|Exception): .")
PAGE_BUILDER = (
    "import sys; from bookbuild.processes import die_with_parent; "
    "die_with_parent(int(sys.argv.pop(1))); from jupyter_book.cli.main import main; main()"
)
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def build_site(
    settings: BuildSettings,
    entries: Entries,
    write_downloads: Callable[[Path], None],
) -> None:
    """Build, check and publish the site; raise BookError with every warning or fault.

    `write_downloads` writes the notebooks that readers download into the folder of the site.
    A site with faults stays below the stage, and an earlier sound site stays where it is.
    """
    raise_if_any(check_notebooks(settings.stage, (settings.root,)))
    raise_if_any(check_figures(entries, (settings.root,)))
    if settings.judged:  # the labels of a toy run may have no room
        raise_if_any(check_labels(entries))
    _run_sphinx(settings)
    html = settings.stage / "_build" / "html"
    for name, entry in entries.items():
        entry.write_figures(html / FIGURES_FOLDER / name)
    for beside in (DATA, CLAIMS):
        shutil.copytree(settings.stage / beside, html / beside)
    write_downloads(html)
    add_formulas(html)
    add_policies(html)
    add_cards(html.resolve())
    add_narrow(html.resolve(), entries)
    raise_if_any(check_site(html))
    for path in html.rglob("*"):  # whoever serves the site may be another user
        path.chmod(0o755 if path.is_dir() else 0o644)
    for folder in (html, settings.site.parent, settings.build):  # whatever the umask is
        if (mode := folder.stat().st_mode) | 0o055 != mode:
            folder.chmod(mode | 0o055)
    _replace(settings.site, html)


def _replace(old: Path, new: Path) -> None:
    """Put a folder in the place of another; a crash leaves one of them whole."""
    aside = old.with_name(f"{old.name}-before")
    shutil.rmtree(aside, ignore_errors=True)
    if old.is_dir():
        old.rename(aside)
    new.rename(old)
    shutil.rmtree(aside, ignore_errors=True)


def _run_sphinx(settings: BuildSettings) -> None:
    """Run jupyter-book, strictly; raise BookError with its warnings."""
    program = [sys.executable, "-P", "-c", PAGE_BUILDER, str(os.getpid())]
    done = ran(
        [*program, "build", str(settings.stage), "-W", "-n", "--keep-going"],
        close_fds=False,  # it keeps the build's lock until it ends
        # the reference documents the code of this book, wherever the package is installed from
        env=sources_first(settings.root / SOURCES),
        stdin=subprocess.DEVNULL,
    )
    log = settings.build / settings.profile / "site-log.txt"
    text = ESCAPES.sub("", done.stdout + done.stderr)
    log.write_text(text, encoding="utf-8")
    if done.returncode:
        stage = f"{settings.stage}/"
        lines = text.replace(stage, "").splitlines()
        warnings = [x for x in lines if PROBLEM.search(x)] or [x for x in lines if RAISED.match(x)]
        last = f"The site was not built; see {log.relative_to(settings.root)}."
        raise BookError(*dict.fromkeys(warnings), last)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder at the address that is yielded; port 0 is a free one. Raises BookError."""
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise BookError(
            f"Port {port} cannot be used: {error}; choose another with --port."
        ) from error
    with server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
