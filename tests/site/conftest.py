"""The built site of the smoke profile, served and in its folder.

Each page is opened once with either address.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from addresses import ADDRESSES
from bookbuild.schema import load
from bookbuild.site.build import served
from browser import missing, opened, wait_for_explorables, watched
from tools.this_book import ROOT
from visits import visit_all

SITE = ROOT / "_build" / "smoke" / "site"
OF_ITS_OWN = {f"book/{name}.html" for name in ("explore", "index", "reference", "verdicts")}


def pytest_terminal_summary(terminalreporter):
    """Say it clearly when the site was not tested."""
    if missing():
        terminalreporter.write_line(missing(), yellow=True)


@pytest.fixture(scope="session")
def site():
    """The folder of the site, built from the cache where chapters have not changed."""
    if missing():
        pytest.skip(missing())
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    SITE.parent.mkdir(parents=True, exist_ok=True)
    test_run, built = os.environ.get("PYTEST_XDIST_TESTRUNUID", ""), SITE.parent / "site-tests.run"
    with FileLock(SITE.parent / "site-tests.lock"):  # who comes second finds it built
        if test_run and built.exists() and built.read_text() == test_run:
            return SITE
        run = subprocess.run(
            [sys.executable, "-m", "bookbuild", "build", "--profile", "smoke"],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        )  # fmt: skip
        built.write_text("" if run.returncode else test_run)
    if run.returncode:
        pytest.fail(f"The site was not built:\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
    return SITE


@pytest.fixture(scope="session", params=ADDRESSES)
def address(request, site):
    """The address of the site: on a free port of this machine, then as a folder on its disk."""
    if request.param == "file":
        yield f"{site.as_uri()}/"
        return
    with served(site) as url:
        yield url


@pytest.fixture(scope="session")
def claims():
    """The rows of the ledger."""
    return load(ROOT / "data" / "claims.yml", "data/claims.yml")


@pytest.fixture(scope="session")
def visits(request, site, address):
    """What was seen on every page, by its path in the site."""
    # index.html and the addresses of claims only lead on
    pages = {
        path.relative_to(site).as_posix(): path.stat().st_size
        for path in site.rglob("*.html")
        if path.relative_to(site).parts[0] not in ("_static", "claims", "index.html")
    }
    longest_first = sorted(pages, key=pages.__getitem__, reverse=True)
    if address.startswith("file:"):  # what does not depend on the address is looked at once
        return visit_all(address, longest_first, True, ())
    # where slow tests are left out, one page stands for all of a folder but for those of their own
    shortest_first = reversed(longest_first)
    kinds = {name if name in OF_ITS_OWN else Path(name).parent: name for name in shortest_first}
    quick = "not slow" in request.config.option.markexpr
    return visit_all(address, longest_first, False, kinds.values() if quick else longest_first)


@pytest.fixture(scope="session")
def modules(site, browser):
    """A page in which the explorables' modules can be called; numbers know no address."""
    with served(site) as url, opened(browser) as page:
        page.goto(f"{url}book/explore.html")
        yield page


def opener(page, address):
    """What opens a page of the site and waits for explorables on it."""

    def ready(name, *explorables):
        page.goto(address + name)
        wait_for_explorables(page, *explorables)
        return page

    return ready


@pytest.fixture
def calm(address, browser):
    """Open a page on a narrow screen where less motion is asked for."""
    with opened(browser, reduced_motion="reduce", viewport={"width": 360, "height": 740}) as page:
        yield opener(page, address)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


@pytest.fixture
def page(address, browser):
    """Open pages of the site; no error may appear in the console."""
    with watched(browser) as page:
        yield opener(page, address)


@pytest.fixture
def explore(page):
    return page("book/explore.html", "emergence", "circuit")
