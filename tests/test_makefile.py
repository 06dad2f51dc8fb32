"""The targets of the Makefile: few, told, none a file; and environments in which others fail."""

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tools.this_book import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TOLD = dict(re.findall(r"^([a-z-]+):.*## (.*)", MAKEFILE, re.MULTILINE))
CHOICES = {
    (target, what)
    for target, text in TOLD.items()
    for listed in re.findall(r"WHAT=([a-z|-]+)", text)
    for what in listed.split("|")
}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").rglob("*.md"))]
run = partial(subprocess.run, capture_output=True, text=True, check=False)
PYTHON = """#!/bin/sh
case "$*" in *venv*) mkdir -p .venv/bin; ln -sf "$0" .venv/bin/python;; -c*) exit 0;; esac
printf '[%s]' "$PYTHONPATH" "$PYTHONHOME" "$PIP_USER" "$@"; echo
"""
COMMAND = re.compile(  # a line of a shell, or code in a line
    r"(?:^|`)make ([a-z-]+)(?:[^`\n]*? WHAT=([a-z-]+))?", re.MULTILINE
)


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Ask make what it would do."""
    order = ["make", "--dry-run", "--no-print-directory", *arguments]
    return subprocess.run(order, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_targets_are_few_and_none_is_a_file() -> None:
    assert len(TOLD) <= 14
    assert not any((ROOT / target).exists() for target in TOLD)


def test_every_choice_that_help_tells_is_there() -> None:
    assert [c for c in sorted(CHOICES) if make(c[0], f"WHAT={c[1]}").returncode] == []


@pytest.mark.parametrize("target", ["test", "release", "record", "drill", "clean"])
def test_another_choice_ends_in_one_sentence(target: str) -> None:
    output = make(target, "WHAT=nothing").stdout  # a dry run, for a slip here once emptied _build
    assert f"make {target} has no WHAT=nothing: run make help" in output
    assert "exit 2" in output
    assert "rm " not in output


def test_every_command_on_a_page_is_a_target() -> None:
    known = CHOICES | {(target, "") for target in TOLD}
    result = {
        page.relative_to(ROOT).as_posix(): set(COMMAND.findall(page.read_text("utf-8")))
        for page in PAGES
    }
    assert {("reproduce", ""), ("test", "")} <= result["README.md"]
    assert {page: names - known for page, names in result.items() if names - known} == {}


def test_what_contributors_are_sent_to_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|book|data|tools)/[\w./]*)`", text)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that tells how it was called, and makes an environment as venv does."""
    path = tmp_path / "python"
    path.write_text(PYTHON, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def checkout(tmp_path: Path, python: Path) -> Path:
    """A folder with our Makefile, and an environment with that Python."""
    root = tmp_path / "checkout"
    (root / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", root)
    (root / "bookbuild").mkdir()
    locks = (f"requirements{which}" for which in (".lock", ".hashes", "-test.lock", "-test.hashes"))
    for name in (*locks, "pyproject.toml", "bookbuild/pyproject.toml", ".venv/.installed"):
        (root / name).touch()
    (root / ".venv" / "bin" / "python").symlink_to(python)
    return root


def make_in(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make below a folder, in an environment of its own."""
    known = {"PATH": os.environ["PATH"], "LC_ALL": "C"} | environment
    return run(["make", "--no-print-directory", *arguments], cwd=root, env=known)


# snakemake/snakemake#2981, snakemake/snakemake#3211
def test_values_of_options_reach_the_command_whole(checkout: Path) -> None:
    for name in ("results (1).zip", "Anna's results.zip", "https://x/y#sha256=0"):
        output = make_in(checkout, "reproduce", f"RESULTS={name}", "PROFILE=smoke").stdout
        assert output.endswith(f"[--profile][smoke][--device][auto][--results][{name}]\n")
    given = ("CHAPTER=paper/05_emergence", "SET=n_pairs=20 mask=causal")
    output = make_in(checkout, "chapter", *given).stdout
    assert output.endswith("[--set][n_pairs=20 mask=causal][paper/05_emergence]\n")


def test_exported_options_are_told(checkout: Path) -> None:  # snakemake/snakemake#1398
    output, rest = make_in(checkout, "serve", SEED="3", PORT="9", FROM="x").stdout.splitlines()
    assert output == "taken from the environment: SEED='3' FROM='x' PORT='9'"
    assert rest.endswith("[--port][9]")


# astral-sh/uv#18109; pypa/pipenv#1798; jupyter/notebook#2270; spyder-ide/spyder#13519
@pytest.mark.parametrize("how", ["mv", "cp -r"])
def test_a_moved_or_copied_checkout_runs_itself(checkout: Path, python: Path, how: str) -> None:
    run([*how.split(), checkout, place := checkout.with_name("another place")])
    personal = {"PYTHONPATH": "/x/numpy", "PYTHONHOME": "/x", "PIP_USER": "1"}
    output = make_in(place, "serve", f"PYTHON={python}", **personal).stdout.splitlines()
    assert output[-1].startswith(
        f"[{place}/src:{place}/bookbuild/src][][][-P][-m][bookbuild][serve]"
    )


def test_sources_are_found(checkout: Path, tmp_path: Path) -> None:  # astral-sh/uv#18208
    recipe = make_in(checkout, "--dry-run", "env", "--always-make").stdout
    (order,) = (line for line in recipe.splitlines() if "book.pth" in line)
    shutil.rmtree(checkout / ".venv")
    (checkout / "src").mkdir()
    (checkout / "src" / "mine.py").write_text("print(__file__)", encoding="utf-8")
    run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=checkout)
    run(["sh", "-c", order], cwd=checkout, env={})
    place = checkout.rename(tmp_path / "moved")
    output = run([place / ".venv" / "bin" / "python", "-c", "import mine"], env={}).stdout
    assert output == f"{place}/src/mine.py\n"


# python-poetry/poetry#9389, pypa/pipx#146
def test_an_environment_without_interpreter_is_made_anew(checkout: Path, python: Path) -> None:
    interpreter = checkout / ".venv" / "bin" / "python"
    interpreter.unlink()
    interpreter.symlink_to("/nowhere/python3.11")
    output, *_, last = make_in(checkout, "serve", f"PYTHON={python}").stdout.splitlines()
    assert output == ".venv does not work any more and is made anew."
    assert last.endswith("[serve][--profile][paper][--port][8000]")


# astral-sh/uv#14670, astral-sh/uv#1472
@pytest.mark.parametrize("place", ["elsewhere", "nowhere"])
def test_an_environment_that_is_a_link_is_told(checkout: Path, python: Path, place: str) -> None:
    (checkout / ".venv").rename(checkout / "elsewhere")
    (checkout / ".venv").symlink_to(place)
    if place == "elsewhere":
        assert "[serve]" in make_in(checkout, "serve").stdout
        (checkout / "elsewhere" / ".installed").unlink()
    output = make_in(checkout, "serve", f"PYTHON={python}")
    assert (output.returncode, output.stdout) == (2, "")
    assert output.stderr.startswith(".venv is a link to another environment, which make env would")
