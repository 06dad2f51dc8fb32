"""The distributions: built, installed into empty environments, used there, and removed."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.this_book import ROOT

FOLDERS = {"emergence": ROOT, "bookbuild": ROOT / "bookbuild"}
BUILT_FROM = "pyproject.toml", "README.md", "src"
BUILD = """
import sys
from setuptools import build_meta
print(getattr(build_meta, sys.argv[1])(sys.argv[2]))
"""


def ran(*order: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints, in an environment that names no sources."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, order)], cwd=cwd, env=clean | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of each distribution, built from its sdist."""
    wheels = {}
    for name, folder in FOLDERS.items():
        place = tmp_path_factory.mktemp(name)
        source = place / "source"
        source.mkdir()
        ran("cp", "-r", *(folder / part for part in BUILT_FROM), source, cwd=place)
        sdist = place / ran(sys.executable, "-c", BUILD, "build_sdist", place,
                            cwd=source).splitlines()[-1]  # fmt: skip
        with tarfile.open(sdist) as archive:
            archive.extractall(place / "sdist", filter="data")
        (unpacked,) = (place / "sdist").iterdir()
        wheel = ran(sys.executable, "-c", BUILD, "build_wheel", place, cwd=unpacked)
        wheels[name] = place / wheel.splitlines()[-1]
    return wheels


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment with the locked packages and nothing of this repository; its Python."""
    ran(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env/bin/python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = Path(ran(python, "-c", code, cwd=tmp_path).strip())
    # a path in a file of paths is searched for packages, and not for further files of paths
    (place / "locked.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def pip(python: Path, *order: str | Path) -> None:
    """Have pip work on another environment."""
    ran(sys.executable, "-m", "pip", "--quiet", "--python", python, *order, cwd=python.parent)


@pytest.mark.parametrize("name", FOLDERS)
def test_each_distribution_has_one_package(built: dict[str, Path], name: str) -> None:
    files = zipfile.ZipFile(built[name]).namelist()
    assert {file.partition("/")[0] for file in files if ".dist-info/" not in file} == {name}


def test_the_library_alone_trains_and_predicts(
    built: dict[str, Path], environment: Path, tmp_path: Path
) -> None:
    pip(environment, "install", "--no-deps", built["emergence"])
    command = environment.with_name("emergence")
    small = ("--n-pairs", "4", "--batch-size", "16", "--steps", "20")
    asked = ("--mask", "causal", "--learning-rate", "0.7", "--supervision", "every")
    ran(command, "train", *small, *asked, "--save", "run.pt", "--plot", "run.svg", cwd=tmp_path)
    assert (tmp_path / "run.pt").is_file()
    ran(command, "plot", "run.pt", "--output", "again.png", cwd=tmp_path)
    assert "emerges: at step" in ran(command, "predict", "--n-pairs", "4", cwd=tmp_path)


# a second claim of the book that `bookbuild new` writes: its texts from those of the first
CHAPTER = "book/paper/01_distance.md"
OTHER = {
    "distance-is-the-number-of-steps": "again",
    "01_distance": "02_again",
    "distance_per_step": "distance_again",
    "fig-distance": "fig-again",
    "The mean squared distance after": "Once more the distance after",
}


def test_the_builder_alone_makes_a_book_in_which_a_claim_of_one_s_own_is_judged(
    built: dict[str, Path], environment: Path, tmp_path: Path
) -> None:
    pip(environment, "install", "--no-deps", built["bookbuild"])
    command, book = environment.with_name("bookbuild"), tmp_path / "mine"
    ran(command, "new", "mine", cwd=tmp_path)
    again = subprocess.run([command, "new", "mine"], cwd=tmp_path, capture_output=True, text=True)
    assert again.stderr == "mine is there already: name a folder that is not.\n"
    ran(environment, "-m", "pytest", "-q", "tests", cwd=book, PYTHONPATH="src")
    said = ran(command, "build", "--device", "cpu", cwd=book)
    assert "Claims of the paper, as printed: 1 reproduced" in said
    texts = [(book / name).read_text(encoding="utf-8") for name in (CHAPTER, "data/claims.yml")]
    for old, new in OTHER.items():
        texts = [text.replace(old, new) for text in texts]
    (book / "book/paper/02_again.md").write_text(texts[0], encoding="utf-8")
    added = {"data/claims.yml": texts[1], "_toc.yml": "  - file: book/paper/02_again"}
    for name, text in added.items():
        with (book / name).open("a", encoding="utf-8") as stream:
            stream.write(text)
    said = ran(command, "build", "--device", "cpu", cwd=book)
    assert "Claims of the paper, as printed: 2 reproduced" in said
    assert "1 chapters executed" in said
    site = book / "_build/paper/site"
    assert "Once more the distance after" in (site / "book/verdicts.html").read_text("utf-8")
    assert (site / "figures/paper/02_again/fig-again.svg").is_file()


@pytest.mark.parametrize("gone", FOLDERS)
def test_either_is_removed_and_the_other_works(
    built: dict[str, Path], environment: Path, tmp_path: Path, gone: str
) -> None:
    (stays,) = FOLDERS.keys() - {gone}
    pip(environment, "install", "--no-deps", *built.values())
    pip(environment, "uninstall", "--yes", gone)
    assert "Usage" in ran(environment.with_name(stays), "--help", cwd=tmp_path)
    assert not environment.with_name(gone).exists()


@pytest.mark.parametrize("name", FOLDERS)
def test_the_locked_versions_are_within_the_bounds(name: str) -> None:
    project = tomllib.loads((FOLDERS[name] / "pyproject.toml").read_text(encoding="utf-8"))
    for line in project["project"]["dependencies"]:
        wanted = Requirement(line)
        assert {each.operator for each in wanted.specifier} == {">=", "<"}, line
        assert wanted.specifier.contains(re.sub(r"\+.*", "", version(wanted.name))), line
