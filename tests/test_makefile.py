"""The targets of the Makefile: few, told, none a file; what pages name exists."""

import re
import subprocess

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
    told = make(target, "WHAT=nothing").stdout  # a dry run, for a slip here once emptied _build
    assert f"make {target} has no WHAT=nothing: run make help" in told
    assert "exit 2" in told
    assert "rm " not in told


@pytest.mark.parametrize("what", ["all", "results"])
def test_a_release_may_rest_on_published_results(what: str) -> None:
    assert "--results 'last.zip'" in make("release", f"WHAT={what}", "RESULTS=last.zip").stdout
    assert "--results" not in make("release", f"WHAT={what}").stdout


def test_every_command_on_a_page_is_a_target() -> None:
    known = CHOICES | {(target, "") for target in TOLD}
    found = {
        page.relative_to(ROOT).as_posix(): set(COMMAND.findall(page.read_text("utf-8")))
        for page in PAGES
    }
    assert {("reproduce", ""), ("test", "")} <= found["README.md"]
    assert {page: names - known for page, names in found.items() if names - known} == {}


def test_what_contributors_are_sent_to_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|book|data|tools)/[\w./]*)`", text)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []
    workshop = (ROOT / "book" / "workshop.md").read_text(encoding="utf-8")
    assert [
        how
        for how in re.findall(r"see \*(.+?)\*|See \*(.+?)\*", text)
        if f"\n### {''.join(how)}" not in workshop
    ] == []
