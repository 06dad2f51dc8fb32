"""Launch buttons lead to files that exist, and what they open runs."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from bookbuild.errors import BookError
from bookbuild.notebooks import write_branch
from bookbuild.site import stage
from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import read_chapters, read_toc, tags
from tools.this_book import ROOT
from toy_book import LINE, SQUARE, git

SERVICES = ("colab.research.google.com", "mybinder.org", "github.com")


def write(toy, out):
    """Write the tree of the published branch to a folder."""
    chapters = read_chapters(toy.root, read_toc(toy.root))
    entries = {chapter.name: toy.entry(chapter.name) for chapter in chapters}
    write_branch(out, chapters, entries, toy.settings())


@pytest.fixture
def published(committed, tmp_path):
    """The tree of the published branch, and the repository it was made from."""
    write(committed, tmp_path / "notebooks")
    return tmp_path / "notebooks", committed


def read(folder, name):
    return nbformat.read(folder / "book" / f"{name}.ipynb", as_version=4)


def code_of(notebook, tag):
    return next(cell.source for cell in notebook.cells if tag in tags(cell))


def test_every_button_of_the_built_pages_leads_into_the_tree_it_names(published):
    out, toy = published
    tree = set(toy.git("ls-files").splitlines())
    for path in (toy.settings().site / "book").rglob("*.html"):
        page = path.relative_to(toy.settings().site / "book").with_suffix("").as_posix()
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        links = [urlsplit(a["href"]) for a in soup.find_all("a", href=True)]
        links = {link.netloc: link for link in links if link.netloc in SERVICES}
        is_chapter = page in (LINE, SQUARE)
        assert set(links) == set(SERVICES if is_chapter else SERVICES[2:]), page
        assert links["github.com"].path.removeprefix("/someone/toy/edit/main/") in tree
        if is_chapter:
            notebook = links["colab.research.google.com"].path
            assert (out / notebook.removeprefix("/github/someone/toy/blob/notebooks/")).is_file()
            binder = links["mybinder.org"]
            assert binder.path == "/v2/gh/someone/toy/main"
            assert parse_qs(binder.query)["urlpath"] == [f"lab/tree/book/{page}.ipynb"]


@pytest.mark.parametrize("installed", [True, False])
def test_a_book_that_pip_cannot_install_has_no_launch_buttons(toy, installed):
    if not installed:
        (toy.root / "pyproject.toml").unlink()
    stage._write_config(toy.settings())
    text = (toy.settings().stage / "_config.yml").read_text(encoding="utf-8")
    assert ("launch_buttons" in text) == installed


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/a/b.git", "a/b"),
        ("https://token@github.com/a/b.git", "a/b"),
        ("ssh://git@github.com/a/b.git", "a/b"),
        ("https://example.org/github.com/a/b", None),
        ("", None),
    ],
)
def test_a_fork_has_the_address_of_its_remote(toy, monkeypatch, remote, name):
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    toy.edit("_config.yml", "https://github.com/someone/toy", '""')
    git(toy.root, "init", "--quiet")
    if remote:
        git(toy.root, "remote", "add", "origin", remote)
    addresses = Addresses.find(toy.root)
    assert (addresses and addresses.repository) == (name and f"https://github.com/{name}")
    monkeypatch.setenv("GITHUB_REPOSITORY", "c/d")
    assert Addresses.read(toy.root).repository == "https://github.com/c/d"


def test_the_published_notebook_has_outputs_numbers_and_the_smoke_profile(published):
    notebook = read(published[0], LINE)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "{glue" not in text
    assert "{eval" not in text
    assert "The slope is 2.00 for every seed, and the square 9." in text
    assert 'profile = "smoke"' in code_of(notebook, "parameters")
    assert "made by the paper profile on cpu" in notebook.cells[0].source
    figures = read(published[0], SQUARE).cells
    data = [o.data for cell in figures for o in cell.get("outputs", []) if "data" in o]
    assert any("image/svg+xml" in item for item in data)
    assert not any("download</dt>" in item.get("text/html", "") for item in data)
    outputs = [o for cell in (*notebook.cells, *figures) for o in cell.get("outputs", [])]
    assert any("aria-label" in item.get("image/svg+xml", "") for item in data)
    assert any('<table class="report">' in str(output.get("data")) for output in outputs)


def test_what_a_page_lets_download_is_the_notebook_with_its_numbers(built_once):
    toy, _ = built_once
    for name in (LINE, SQUARE):
        page = toy.settings().site / "book" / f"{name}.html"
        link = f"_sources/book/{name}.ipynb"
        assert f'href="../../{link}"' in page.read_text(encoding="utf-8")
        text = (toy.settings().site / link).read_text(encoding="utf-8")
        assert not any(role in text for role in ("{eval}", "{glue:", "_tell"))
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
        assert f"https://someone.github.io/toy/book/{name}.html" in notebook.cells[0].source
    prose = "".join(cell.source for cell in read(toy.settings().site / "_sources", LINE).cells)
    assert "The slope is 2.00 for every seed, and the square 9." in prose


def test_notebooks_are_made_from_a_commit_alone_and_overwrite_nothing(committed, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BookError, match="is not an empty folder"):
        write(committed, tmp_path)
    committed.edit("book/index.md", "#", "##")
    with pytest.raises(BookError, match="commit them first"):
        write(committed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def opening(published, monkeypatch, tmp_path):
    """Run the first cell of a published notebook; git clones the toy, pip only records."""
    out, toy = published
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{toy.root}.insteadOf")
    address = Addresses.read(toy.root).repository
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", address)
    installs = []
    run = subprocess.run

    def recorded(arguments, **options):
        if "pip" in arguments:
            return installs.append(arguments)
        return run(arguments, **options)

    monkeypatch.setattr(subprocess, "run", recorded)
    monkeypatch.chdir(tmp_path)
    code = code_of(read(out, LINE), "launch")
    return lambda: (exec(code, {}), installs)[1]


def test_where_the_book_is_missing_the_first_cell_fetches_its_commit_and_nothing_large(
    opening, published, monkeypatch
):
    before = os.getcwd()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    assert opening() == []
    assert os.getcwd() == before
    head = git(published[1].root, "rev-parse", "HEAD")
    git(published[1].root, "commit", "--quiet", "--allow-empty", "--message=later")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "toy" else True)
    monkeypatch.setattr("sys.path", [*sys.path])
    (requirements,) = opening()
    assert git(Path.cwd(), "rev-parse", "HEAD") == head
    assert Path("data/points.csv").is_file()
    assert sys.path[0] == str(Path.cwd() / "src")
    assert Path(sys.path[0], "toy").is_dir()
    assert [line.partition("==")[0] for line in requirements[5:]] == ["jaxtyping", "python-flint"]
    assert len(opening()) == 2  # a second run is harmless


@pytest.fixture
def post_build(committed, tmp_path):
    """Run postBuild in a fresh clone of the toy book; pip does nothing."""
    shim = tmp_path / "bin" / "python"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\n[ "$2" = pip ] && exit 0\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(committed.root), str(clone))
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    given = os.environ | {"PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": source}

    def run():
        done = subprocess.run(["./postBuild"], cwd=clone, env=given, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return clone, done.stdout + done.stderr

    return run


def test_binder_opens_chapters_with_their_stored_outputs(published, post_build):
    clone, output = post_build()
    assert "no branch with executed notebooks yet" in output
    assert not any(cell.get("outputs") for cell in read(clone, SQUARE).cells)
    out, toy = published
    git(out, "init", "--quiet", "--initial-branch=notebooks")
    git(out, "add", "--all")
    git(out, "commit", "--quiet", "--message=notebooks")
    git(out, "push", "--quiet", str(toy.root), "notebooks")  # as the workflow does
    clone, _ = post_build()
    assert read(clone, SQUARE) == read(out, SQUARE)
    assert any(cell.get("outputs") for cell in read(clone, SQUARE).cells)
    assert git(clone, "status", "--porcelain") == ""


def test_a_reader_s_notebooks_do_not_disturb_the_build(toy, without_site):
    (toy.root / "book" / "paper" / "01_line.ipynb").write_text("{}")
    (toy.root / "book" / "paper" / "mine.ipynb").write_text("{}")
    toy.build()
    staged = {path.name for path in (toy.settings().stage / "book" / "paper").iterdir()}
    assert "01_line.ipynb" in staged
    assert "mine.ipynb" not in staged
    assert "slope" in (toy.settings().stage / "book/paper/01_line.ipynb").read_text()
