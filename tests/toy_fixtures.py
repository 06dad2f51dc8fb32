"""A toy book of two chapters, executed once; each test works on a copy of its own."""

import os
import pickle
import shutil
import signal
import sys

import pytest
from filelock import FileLock

from bookbuild.cli import main
from bookbuild.reporting import notebook
from tools.this_book import ROOT
from toy_book import Toy, new_toy

FILES = (".gitignore", "requirements.lock", "LICENSE", "postBuild", "pyproject.toml")
FILES += ("CITATION.cff", "CHANGELOG.md")


@pytest.fixture(scope="session")
def built_once(tmp_path_factory):
    """The toy book, built with its site once for all processes; for reading only."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with FileLock(folder / "built.lock"):  # who comes second finds it built
        if not (folder / "built.pickle").exists():
            toy = new_toy(folder / "built")
            shutil.copy(ROOT / "pyproject.toml", toy.root)
            built = toy, toy.build()
            (folder / "built.pickle").write_bytes(pickle.dumps(built))
        return pickle.loads((folder / "built.pickle").read_bytes())


@pytest.fixture
def unbuilt(tmp_path):
    """A toy book that has never been built."""
    return new_toy(tmp_path / "unbuilt")


@pytest.fixture
def toy(built_once, tmp_path):
    """A copy of the toy book after its first build."""
    root = tmp_path / "toy"
    shutil.copytree(built_once[0].root, root)
    return Toy(root)


@pytest.fixture
def committed(toy):
    """The built toy book as a repository, with the files of this one that a release takes along."""
    for name in FILES:
        shutil.copy(ROOT / name, toy.root)
    toy.git("init", "--quiet", "--initial-branch=main")
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--message=toy")
    return toy


@pytest.fixture
def without_site(monkeypatch):
    """Leave Sphinx out of the build, for tests of what comes before it."""
    monkeypatch.setattr("bookbuild.pipeline.build_site", lambda *_: None)


@pytest.fixture
def output(tmp_path, monkeypatch):
    """A fresh output folder for report and show, as in a chapter that bookbuild executes."""
    monkeypatch.setenv(notebook.OUTPUT, str(tmp_path))
    monkeypatch.setattr(notebook, "_measures", {})
    return tmp_path


@pytest.fixture
def command(monkeypatch):
    """Run the command line in a folder and return the text it exits with, empty if all is well."""
    handler = signal.getsignal(signal.SIGTERM)

    def run(root, *arguments):
        monkeypatch.chdir(root)
        monkeypatch.setattr("sys.path", [*sys.path])
        monkeypatch.setattr("sys.argv", ["bookbuild", *arguments])
        try:
            main()
        except SystemExit as end:
            return str(end.code)
        return ""

    yield run
    signal.signal(signal.SIGTERM, handler)
