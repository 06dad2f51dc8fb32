"""A chapter that is opened as a notebook finds the root of its book."""

import os
import sys
from pathlib import Path

import IPython
import pytest

from bookbuild.reporting.place import enter_root


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a page, where Python runs."""
    (tmp_path / "book" / "paper").mkdir(parents=True)
    for name in ("_toc.yml", "_config.yml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path / "book" / "paper")
    monkeypatch.delenv("BOOKBUILD_OUTPUT", raising=False)
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path / "book" / "paper"


def test_a_kernel_enters_the_root_of_its_book_and_a_build_stays(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    with monkeypatch.context() as building:
        building.setenv("BOOKBUILD_OUTPUT", str(page))
        enter_root()
    assert Path.cwd() == page
    enter_root()
    assert Path.cwd() == page.parents[1]
    assert sys.path[0] == str(page.parents[1] / "src")
    enter_root()  # and stays there
    assert Path.cwd() == page.parents[1]
    os.chdir(page.parents[2])
    enter_root()  # no book is here
    assert Path.cwd() == page.parents[2]
