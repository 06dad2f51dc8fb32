"""Chromium for the tests of the built site, and the explorables in it."""

import shutil
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from bookbuild.site.scripts import TABLE, join
from tools.this_book import ROOT

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Root in a container cannot have a sandbox; the pages opened are our own.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
MODULES = ROOT / "book" / "_static"
PATIENCE = 300_000  # milliseconds for each operation: a loaded machine may need minutes
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 800}
FRAMES = """async () => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}"""
UNFOLD = "() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"


def program() -> str | None:
    """The path of a Chromium of this machine, if there is one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def missing() -> str:
    """What the site tests lack, in one sentence, or nothing."""
    if not all(map(find_spec, ("axe_playwright_python", "playwright"))):
        return "The site tests are skipped, for Playwright or axe-playwright-python is missing."
    if program() is None:
        return f"The site tests are skipped, for there is no browser ({', '.join(PROGRAMS)})."
    return ""


@contextmanager
def chromium():
    """Chromium of this system, driven by Playwright, of which a thread holds one at a time."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program(),
            args=list(FLAGS),
            ignore_default_args=["--hide-scrollbars"],  # readers see them
            timeout=PATIENCE,
        )
        yield browser
        browser.close()


@contextmanager
def opened(browser, **options):
    """A patient page with an empty cache; options are those of a context, light by default."""
    with browser.new_context(**({"viewport": WIDE} | options)) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


@contextmanager
def watched(browser):
    """A page in whose console no error may appear."""
    errors: list[str] = []
    with opened(browser) as page:
        note_errors(page, errors)
        yield page
    assert errors == []


def wait_for_explorables(page, *names):
    """Wait until explorables have filled their tables, and drawn in the frame after that."""
    for name in names:
        page.locator(f"[data-explorable={name}]").scroll_into_view_if_needed()  # it starts there
        page.wait_for_selector(f"[data-explorable={name}] table tbody tr", state="attached")
    page.evaluate(FRAMES)


def says(place, text):
    """Wait until an element shows a text."""
    from playwright.sync_api import expect

    expect(place).to_contain_text(text)


def number(places, count):
    """Wait until there are so many elements."""
    from playwright.sync_api import expect

    expect(places).to_have_count(count)


def call(page, module, expression, argument=None):
    """Evaluate an expression in `m`, an explorable's module, and `x`, the argument."""
    name = f"explorables/{module}.js"
    code = f"(x) => {{ {script_of(name)} const m = {TABLE}['{name}']; return {expression}; }}"
    return page.evaluate(code, argument)


@cache
def script_of(name: str) -> str:
    """A module as the site carries it, joined with all that it imports."""
    return join(MODULES / name, MODULES)


def note_errors(page, errors: list[str]) -> None:
    """Add to a list what a page says in its console as an error."""
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
