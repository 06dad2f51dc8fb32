"""How far an edit reaches: the chapters that are executed anew for it.

`python tests/book/test_keys.py emergence/fast emergence/models` prints chapters and minutes of all
modules below these places.
"""

import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

from bookbuild.results.imports import Imports, find_imports
from bookbuild.results.keys import fingerprint
from this_book import ROOT, chapters

SRC = ROOT / "src"
PRINTS_SOURCES = "paper/03_minimal_formulation"  # with their comments
TRAINS_TOKENS = {
    "paper/02_induction_heads", "beyond/06_real_transformers", "beyond/07_knock_in",
    "beyond/02_first_integral", "beyond/08_cost", "companions/10_two_accounts",
    "paper/E_details_section_2", "beyond/13_rival_laws",
}  # fmt: skip
SECTION_2 = {"paper/02_induction_heads", "paper/E_details_section_2"}
SHARED_SETTINGS = {
    "induction_heads": SECTION_2,
    "silences": SECTION_2
    | {
        "paper/05_emergence",
        "paper/C_weights_during_training",
        "paper/D_training_dynamics",
    },
    "full_dynamics": {"paper/06_full_dynamics", "paper/F_details_section_6"},
}
SWEEPS = {
    "paper/02_induction_heads", "paper/06_full_dynamics", "beyond/09_full_flow",
    "beyond/10_batch_noise",
}  # fmt: skip
EXPERIMENTS = sorted((SRC / "emergence" / "experiments").glob("[bp]*/[!_]*.py"))


@cache
def dependencies() -> dict[str, Imports]:
    return {
        chapter.name: find_imports((cell.source for cell in chapter.code), SRC)
        for chapter in chapters()
    }


def reached(*places: str) -> set[str]:
    """The chapters that depend on a module, or on one below a folder."""
    parts = [(SRC / place).with_suffix("").parts for place in places]
    return {
        name
        for name, found in dependencies().items()
        for path in found.files
        if any(path.with_suffix("").parts[: len(place)] == place for place in parts)
    }


def using(package: str) -> set[str]:
    return {name for name, found in dependencies().items() if package in found.packages}


@cache
def keys(src: Path) -> dict[str, object]:
    """What stands in each chapter's key for sources and packages."""
    return {
        chapter.name: fingerprint((cell.source for cell in chapter.code), src)
        for chapter in chapters()
    }


def test_parts_of_the_head_reach_the_chapter_that_gives_them():
    assert reached("emergence/training/knock_in") == {"beyond/07_knock_in"}


def test_the_training_of_section_2_reaches_those_that_train_or_time_it():
    assert reached("emergence/training/transformer") == TRAINS_TOKENS


def test_the_fast_method_reaches_those_that_train_by_it_or_check_it():
    training = reached("emergence/training/minimal", "emergence/training/transformer")
    checking = {"paper/A_structure_proof", "paper/errata"}
    assert reached("emergence/fast") == training | checking
    assert len(training | checking) == 23


def test_the_law_of_uniform_queries_reaches_those_that_choose_between_the_laws():
    """All that take a flow or times by the number of pairs: the query they name is an argument."""
    assert reached("emergence/theory/uniform") <= reached("emergence/theory/flow")
    assert len(reached("emergence/theory/uniform")) == 21


def test_executors_reach_the_chapters_that_sweep():
    assert reached("emergence/running/executors") == SWEEPS


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_settings_reach_the_chapters_of_their_experiment(path):
    found = reached(path.relative_to(SRC).as_posix())
    assert len(found) == 1 or found == SHARED_SETTINGS[path.stem]


def test_optional_packages_are_in_the_keys_of_those_that_run_them():
    assert using("distributed") == set()
    assert using("transformers") == {"companions/01_retrieval"}


def test_a_comment_anywhere_reaches_no_chapter_but_one_that_prints_it(tmp_path):
    src = copied(tmp_path)
    for path in src.rglob("*.py"):
        path.write_bytes(b"# edited\n" + path.read_bytes() + b"\n\n# edited\n")
    before, after = keys(SRC), keys(src)
    assert {name for name in before if after[name] != before[name]} == {PRINTS_SOURCES}


def test_an_edit_of_code_changes_the_keys_of_those_it_reaches(tmp_path):
    src = copied(tmp_path)
    for name in ("training/knock_in.py", "running/executors.py"):
        with (src / "emergence" / name).open("a", encoding="utf-8") as stream:
            stream.write("\n\nEDITED = 1\n")
    before, after = keys(SRC), keys(src)
    expected = {"beyond/07_knock_in"} | SWEEPS
    assert {name for name in before if after[name] != before[name]} == expected


def copied(folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(SRC, folder / "src", ignore=ignored))


if __name__ == "__main__":
    minutes = {chapter.name: chapter.minutes or 1 for chapter in chapters()}
    for argument in sys.argv[1:]:
        redone = reached(argument)
        print(f"{argument:45} {len(redone):3} {sum(minutes[name] for name in redone):5}")
