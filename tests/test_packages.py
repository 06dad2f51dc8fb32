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


def test_the_builder_alone_builds_the_book_of_its_template(
    built: dict[str, Path], environment: Path, tmp_path: Path
) -> None:
    pip(environment, "install", "--no-deps", built["bookbuild"])
    command = environment.with_name("bookbuild")
    ran(command, "new", "mine", cwd=tmp_path)
    said = ran(command, "build", "--device", "cpu", cwd=tmp_path / "mine")
    assert "reproduced" in said or "claims" in said
    assert (tmp_path / "mine/_build/paper/site/index.html").is_file()


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
