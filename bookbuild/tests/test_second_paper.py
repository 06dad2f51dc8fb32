"""Two small papers: one that `bookbuild new` writes from the wheel, and the example."""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from bookbuild.results.store import Store
from bookbuild.settings import Settings
from bookbuild.site.serving import served
from bookbuild.source.book import read_book
from bookbuild.source.citation import paper, read_citation
from tools.this_book import ROOT, chapters, claims
from tools.toy_book import Command

BUILDER = ROOT / "bookbuild" / "src" / "bookbuild"
CLAIM = """\
- id: walks-are-even
  source: "§2"
  statement: After 16 steps the distance is even.
  kind: paper
  chapter: paper/02_parity
  measure: share_of_even
  expect: {at_least: 1}
  why: Each step changes the distance by one.
"""
CHAPTER = """\
# Parity

```{code-cell} ipython3
:tags: [parameters]

profile = "smoke"
device = "auto"
seed = 0
```

```{code-cell} ipython3
---
mystnb:
  image:
    alt: After an even number of steps, walks end at even places.
  figure:
    name: fig-ends
    caption: Where walks end.
---
import matplotlib.pyplot as plt
import numpy as np

from bookbuild import report, show

ends = np.random.default_rng(seed).choice([-1, 1], size=(100, 16)).sum(axis=1)
report("share_of_even", float((ends % 2 == 0).mean()))
fig, ax = plt.subplots()
ax.hist(ends)
show(fig, "ends", data={"ends": ends}, seeds=[seed])
```
"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """An environment in which nothing but the virtual environment leads to our sources."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def bookbuild(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> Callable[..., str]:
    """The command as the wheel installs it, with no part of this repository on the path."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "venv")
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    (site / "others.pth").write_text("\n".join(p for p in sys.path if "site-packages" in p))
    pip = [sys.executable, "-m", "pip", "--quiet"]
    source = folder / "bookbuild"  # of which pip makes more files
    for name in ("bookbuild", "src"):
        subprocess.run(["cp", "-r", ROOT / name, folder / name], check=True)
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], check=True
    )

    def run(root: Path, *arguments: str) -> str:
        order = [folder / "venv/bin/python", site / "bin/bookbuild", *arguments]
        done = subprocess.run(order, cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_claim_of_one_s_own_is_judged_after_two_builds(
    bookbuild: Callable[..., str], tmp_path: Path
) -> None:
    bookbuild(tmp_path, "new", "mine")
    book = tmp_path / "mine"
    assert "Claims of the paper │ 1" in bookbuild(book, "build")
    head = (book / "book/paper/01_distance.md").read_text(encoding="utf-8").partition("# ")[0]
    (book / "book/paper/02_parity.md").write_text(head + CHAPTER, encoding="utf-8")
    for name, text in (("data/claims.yml", CLAIM), ("_toc.yml", "  - file: book/paper/02_parity")):
        with (book / name).open("a", encoding="utf-8") as stream:
            stream.write(text)
    told = bookbuild(book, "build")
    assert "Claims of the paper │ 2" in told
    assert "1 chapters executed" in told
    verdicts = (Settings(book).site / "book/verdicts.html").read_text(encoding="utf-8")
    assert "After 16 steps the distance is even." in verdicts
    assert (Settings(book).site / "figures/paper/02_parity/ends.svg").is_file()


def test_the_paper_that_is_written_tests_itself_and_nothing_is_written_over(
    bookbuild: Callable[..., str], command: Command, tmp_path: Path
) -> None:
    bookbuild(tmp_path, "new", "mine")
    assert command(tmp_path, "new", "mine") == "mine is there already: name a folder that is not."
    order = [sys.executable, "-m", "pytest", "-q", "tests"]
    subprocess.run(order, cwd=tmp_path / "mine", env=os.environ | {"PYTHONPATH": "src"}, check=True)


@pytest.fixture(scope="module")
def followed(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> tuple[Path, str]:
    """The example after a chapter and a build, and what these printed."""
    book, told = tmp_path_factory.mktemp("own") / "example", ""
    subprocess.run(["cp", "-r", ROOT / "bookbuild" / "example", book], check=True)
    for order in (
        ("chapter", "--profile", "smoke", "letter/01_distance"),
        ("build",),
    ):
        run = [sys.executable, "-m", "bookbuild", *order]
        done = subprocess.run(run, cwd=book, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        told += done.stdout
    return book, told


def test_the_commands_say_what_they_did(followed: tuple[Path, str]) -> None:
    book, told = followed
    assert re.search(r"^distance_per_step = \[", told, re.MULTILINE)
    assert "3 chapters executed" in told
    assert "contradicted: return-is-certain (New results; § A return)" in told
    store = Store(Settings(book).results)
    kinds = [stored.kind for key in store.listed() if (stored := store.get(key)[0])]
    assert kinds.count("sweep") == 6
    rows = json.loads((Settings(book).site / "data/ledger.json").read_text(encoding="utf-8"))
    assert {row["id"]: row["verdict"] for row in rows} == {
        "distance-is-the-number-of-steps": "reproduced",
        "distance-grows-linearly": "reproduced",
        "return-is-certain": "contradicted",
    }


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("index.html", "book/index.html"),
        ("book/letter/01_distance.html", 'href="../reference.html#walks.steps.mean_squared'),
        ("book/letter/01_distance.html", '<span class="symbol symbol-1 math'),
        ("book/letter/02_growth.html", "The squared distance grows with the steps."),
        ("book/verdicts.html", "letter/01_distance.html#measure-distance_per_step"),
        ("figures/letter/02_growth/growth.svg", "<svg"),
    ],
)
def test_its_site_has_what_it_needs(followed: tuple[Path, str], page: str, text: str) -> None:
    assert text in (Settings(followed[0]).site / page).read_text(encoding="utf-8")


def test_a_site_is_served_and_a_port_that_is_in_use_is_told(
    followed: tuple[Path, str], command: Command
) -> None:
    with served(Settings(followed[0]).site) as address:
        with urlopen(f"{address}book/index.html") as answer:
            assert "A walker gets as far as the root" in answer.read().decode()
        port = address.rpartition(":")[2].strip("/")
        told = command(followed[0], "serve", "--port", port)
        assert told.startswith(f"Port {port} cannot be used: ")


def test_the_builder_names_nothing_of_this_book() -> None:
    """Neither its packages, its chapters and claims, nor what its paper is about."""
    packages = {path.name for path in (ROOT / "src").iterdir()} - {"running"}
    inner = {f"{p}.{path.stem}" for p in packages for path in (ROOT / "src" / p).glob("[a-z]*")}
    subject = {
        word for word in paper(read_citation(ROOT))["title"].lower().split() if len(word) > 8
    }
    names = {read_book(ROOT).package, *inner, *subject}
    names |= {chapter.name for chapter in chapters()} | claims().keys()
    assert {"chapters.paper", "emergence", "induction", "theorem-2-alpha"} <= names
    found = {
        f"{path.relative_to(BUILDER)}: {name}"
        for path in BUILDER.rglob("*.*")
        if path.suffix in (".py", ".json", ".html", ".md")
        for name in names
        if name in path.read_text(encoding="utf-8").lower()
    }
    assert found == set()
