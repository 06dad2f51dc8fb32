"""The second way to build the site: python -m tools.newest_sphinx.

Jupyter Book 1 holds Sphinx at version 7. Here the newest Sphinx, MyST-NB and theme of the registry
build the stage of the smoke profile, in an environment of its own, .venv-newest, from the
configuration that `jupyter-book config sphinx` writes. Warnings are errors. The pages are then held
against those of Jupyter Book: text, figures and links of each. Where there is a browser, each is
opened from its folder too, and held to the rules of accessibility that hold for the others. Ends
with 1 if a page is missing, differs or breaks one.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from tools.browser import chromium, missing, opened
from tools.this_book import ROOT
from tools.visits import visit

SMOKE = ROOT / "_build" / "smoke"
OUT = ROOT / "_build" / "newest"
ENVIRONMENT = ROOT / ".venv-newest"
SPHINX = (
    "sphinx", "myst-nb", "sphinx-book-theme", "sphinx-external-toc", "sphinxcontrib-bibtex",
    "sphinx-comments", "sphinx-copybutton", "sphinx-design", "sphinx-jupyterbook-latex",
    "sphinx-multitoc-numbering", "sphinx-thebe", "sphinx-togglebutton",
)  # fmt: skip
# what Jupyter Book 1 adds to Sphinx itself: its own extension, for which there is no newer version
OURS_NO_MORE = "'jupyter_book', "
SPACE = re.compile(r"\s+")
PASSING = "script, style, button, .headerlink, .prev-next-footer"


def packages() -> list[str]:
    """What the environment needs: the book's own packages, and Sphinx without Jupyter Book."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["book"], *SPHINX]
    # PyTorch is gigabytes, and nothing that a page shows depends on its version
    torch = f"torch=={version('torch').partition('+')[0]}"
    return [torch if name == "torch" else name for name in named if "jupyter-book" not in name]


def prepare() -> None:
    """Create the environment, or bring it up to date."""
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    pip = [ENVIRONMENT / "bin" / "python", "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run([*pip, "--disable-pip-version-check", *packages()], check=True)


def build() -> Path:
    """Build the stage of the smoke profile anew; return the folder of the pages."""
    shutil.rmtree(OUT, ignore_errors=True)
    stage, html = OUT / "stage", OUT / "site"
    shutil.copytree(SMOKE / "stage", stage, ignore=shutil.ignore_patterns("_build"))
    program = Path(sys.executable).with_name("jupyter-book")
    subprocess.run([program, "config", "sphinx", stage], check=True, stdout=subprocess.DEVNULL)
    conf = stage / "conf.py"
    conf.write_text(conf.read_text(encoding="utf-8").replace(OURS_NO_MORE, ""), encoding="utf-8")
    order = [ENVIRONMENT / "bin" / "sphinx-build", "-b", "html", "-q", "-n", "-W", "--keep-going"]
    subprocess.run(
        [*order, stage, html],
        env={"PYTHONPATH": f"{ROOT}/src:{ROOT}/bookbuild/src", "PATH": ""},
        check=True,
    )
    return html


def read(path: Path) -> tuple[str, int, set[str]]:
    """Text without spaces, number of figures and links of a page."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    article = page.find("article") or page
    assert isinstance(article, Tag)
    for passing in article.select(PASSING):
        passing.decompose()
    links = {str(link["href"]) for link in article.find_all("a", href=True)}
    # formulas end in spaces or not, as versions have it
    return SPACE.sub("", article.get_text()), len(article.find_all(["img", "svg"])), links


def differences(before: Path, after: Path) -> Iterator[str]:
    """A line for each page that is missing, and for each thing in which a page differs."""
    for path in sorted((before / "book").rglob("*.html")):
        name = path.relative_to(before)
        if not (after / name).is_file():
            yield f"{name} is missing"
            continue
        (text, figures, links), (text_, figures_, links_) = read(path), read(after / name)
        if text != text_:
            at = next(
                (n for n, (a, b) in enumerate(zip(text, text_, strict=False)) if a != b),
                min(len(text), len(text_)),
            )
            yield f"{name}: {text[at - 20 : at + 30]!r} | {text_[at - 20 : at + 30]!r}"
        if figures != figures_:
            yield f"{name}: {figures} figures | {figures_}"
        yield from (f"{name}: the link {link} in one alone" for link in sorted(links ^ links_))


def violations(html: Path, browser) -> Iterator[str]:
    """A line for each page that breaks rules of accessibility, in either scheme."""
    for path in sorted((html / "book").rglob("*.html")):
        name = path.relative_to(html).as_posix()
        with opened(browser) as page:
            seen = visit(page, f"{html.as_uri()}/", name)
        if not seen.rules:
            yield f"{name}: no rule was checked"
        yield from (f"{name}: {violation}" for violation in seen.violations)


def reached(html: Path) -> list[str]:
    """The same for a browser of its own; nothing where there is none."""
    if missing():
        return []
    with chromium() as browser:
        return list(violations(html, browser))


def main() -> int:
    if not (SMOKE / "site").is_dir():
        sys.exit(
            "There is no site of the smoke profile yet: run make reproduce PROFILE=smoke first."
        )
    prepare()
    html = build()
    found = list(differences(SMOKE / "site", html))
    pages = len(list((SMOKE / "site" / "book").rglob("*.html")))
    broken = reached(html)
    print("\n".join(found + broken))
    print(
        f"{pages} pages built by the newest Sphinx, {len(found)} differences, "
        + (missing() or f"{len(broken)} break a rule of accessibility")
    )
    return 1 if found or broken else 0


if __name__ == "__main__":
    sys.exit(main())
