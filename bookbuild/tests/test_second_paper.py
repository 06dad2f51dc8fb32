"""Two small papers: one that `bookbuild new` writes from the wheel, and the example."""

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from bookbuild.settings import BuildSettings
from tools.this_book import ROOT
from toy_book import Command

# nothing but the virtual environment leads to our sources
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
CHAPTER = "book/paper/01_distance.md"
OTHER = {
    "distance-is-the-number-of-steps": "again",
    "01_distance": "02_again",
    "distance_per_step": "distance_again",
    "fig-distance": "fig-again",
    "The mean squared distance after": "Once more the distance after",
}


def run(order: list[object], root: Path) -> str:
    """Return what a command prints that runs below a folder and ends well."""
    done = subprocess.run(order, cwd=root, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bookbuild(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The command as the wheel installs it, with no part of this repository on the path."""
    folder = tmp_path_factory.mktemp("wheel")
    venv.create(folder / "venv")
    site = next((folder / "venv").glob("lib/python*/site-packages"))
    (site / "others.pth").write_text("\n".join(p for p in sys.path if "site-packages" in p))
    pip = [sys.executable, "-m", "pip", "--quiet"]
    for name in ("bookbuild", "src"):  # of which pip makes more files
        run(["cp", "-r", ROOT / name, folder / name], folder)
    options = ["--no-deps", "--no-build-isolation", "-w", folder]
    run([*pip, "wheel", *options, folder / "bookbuild"], folder)
    (wheel,) = folder.glob("*.whl")
    run([*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], folder)
    program = [folder / "venv/bin/python", site / "bin/bookbuild"]
    return lambda root, *arguments: run([*program, *arguments], root)


def test_a_claim_of_one_s_own_is_judged_after_two_builds(
    bookbuild: Callable[..., str], command: Command, tmp_path: Path
) -> None:
    bookbuild(tmp_path, "new", "mine")
    assert command(tmp_path, "new", "mine") == "mine is there already: name a folder that is not."
    book = tmp_path / "mine"
    test = [sys.executable, "-m", "pytest", "-q", "tests"]
    subprocess.run(test, cwd=book, env=os.environ | {"PYTHONPATH": "src"}, check=True)
    assert "Claims of the paper, as printed: 1 reproduced" in bookbuild(book, "build")
    texts = [(book / name).read_text(encoding="utf-8") for name in (CHAPTER, "data/claims.yml")]
    for old, new in OTHER.items():
        texts = [text.replace(old, new) for text in texts]
    (book / "book/paper/02_again.md").write_text(texts[0], encoding="utf-8")
    added = {"data/claims.yml": texts[1], "_toc.yml": "  - file: book/paper/02_again"}
    for name, text in added.items():
        with (book / name).open("a", encoding="utf-8") as stream:
            stream.write(text)
    output = bookbuild(book, "build")
    assert "Claims of the paper, as printed: 2 reproduced" in output
    assert "1 chapters executed" in output
    site = BuildSettings(book).site
    assert "Once more the distance after" in (site / "book/verdicts.html").read_text("utf-8")
    assert (site / "figures/paper/02_again/fig-again.svg").is_file()


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The example after a chapter and a build, and what these printed."""
    book = tmp_path_factory.mktemp("own") / "example"
    run(["cp", "-r", ROOT / "bookbuild" / "example", book], ROOT)
    first = ("chapter", "--profile", "smoke", "letter/01_distance")
    orders = (first, ("build",))
    return book, "".join(run([sys.executable, "-m", "bookbuild", *x], book) for x in orders)


def test_the_commands_say_what_they_did(followed: tuple[Path, str]) -> None:
    book, output = followed
    assert re.search(r"^ distance-is-the-number-of-steps .* not judged", output, re.MULTILINE)
    assert "3 chapters executed" in output
    assert "contradicted: return-is-certain (New results; § A return)" in output
    rows = json.loads((BuildSettings(book).site / "data/ledger.json").read_text(encoding="utf-8"))
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
        ("figures/letter/02_growth/fig-growth.svg", "<svg"),
    ],
)
def test_its_site_has_what_it_needs(followed: tuple[Path, str], page: str, text: str) -> None:
    assert text in (BuildSettings(followed[0]).site / page).read_text(encoding="utf-8")
