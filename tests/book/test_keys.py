"""How far an edit reaches: the chapters that are executed anew for it, whose records it ends."""

import re
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bookbuild.results.code.definitions import Dependencies, reached_by_cells
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.settings import BuildSettings
from bookbuild.source.book import CONFIG
from tools.this_book import ROOT, chapters

SRC = ROOT / "src"
BUILDER = ROOT / "bookbuild" / "src" / "bookbuild"
TRAINS_TOKENS = {
    "paper/02_induction_heads", "beyond/06_real_transformers", "beyond/07_knock_in",
    "beyond/08_cost", "beyond/14_every_position", "explore",
}  # fmt: skip


def every(src: Path = SRC, *, shown: bool = True) -> dict[str, Dependencies]:
    """What each chapter depends on."""
    return {
        chapter.name: reached_by_cells((cell.source for cell in chapter.code), src, shown=shown)
        for chapter in chapters()
    }


@cache
def dependencies() -> Mapping[str, Dependencies]:
    return every()


def reached(*places: str) -> set[str]:
    """The chapters that depend on a definition, or on one of a module."""
    return {
        name
        for name, result in dependencies().items()
        if any(f"{digest}.".replace(":", ".").startswith(f"{place}.".replace(":", "."))
               for digest in result.digests for place in places)
    }  # fmt: skip


def using(package: str) -> set[str]:
    return {name for name, result in dependencies().items() if package in result.packages}


def test_the_training_of_section_2_reaches_those_that_train_or_time_it():
    assert reached("emergence.training._transformer") == TRAINS_TOKENS


def test_where_something_is_computed_is_in_no_key():
    assert reached("emergence.running.executors", "emergence.running.sweep") == set()
    assert using("distributed") == set()


def changed(before: Mapping[str, Dependencies], after: Mapping[str, Dependencies]) -> set[str]:
    """The chapters whose code differs."""
    return {name for name in before if after[name].code != before[name].code}


def test_a_comment_anywhere_reaches_no_chapter(tmp_path):
    src = copied(tmp_path)
    for path in src.rglob("*.py"):
        path.write_bytes(re.sub(rb"(?m)^( +)return ", rb"\1# edited\n\1return ", path.read_bytes()))
    assert changed(dependencies(), every(src)) == set()


def test_what_draws_or_reports_ends_no_record(tmp_path):
    src = copied(tmp_path)
    for name, old, new in (
        ("emergence/plotting/book.mplstyle", "lines.", "# lines."),
        ("emergence/plotting/_style.py", "aspect=25", "aspect=26"),
        ("bookbuild/reporting/notebook.py", "what: str, value: Any", "what: str, value: Any = 1"),
    ):
        text = (src / name).read_text(encoding="utf-8")
        assert old in text
        (src / name).write_text(text.replace(old, new), encoding="utf-8")
    assert changed(dependencies(), every(src))
    assert changed(every(shown=False), every(src, shown=False)) == set()


def test_data_that_a_chapter_reads_end_its_record(tmp_path):
    for part in ("src", "book", "data"):
        copied(tmp_path, ROOT / part)
    reader = next(c for c in chapters() if any(x.startswith("data/") for x in c.data))
    before = chapter_fingerprint(reader, BuildSettings(ROOT))
    assert chapter_fingerprint(reader, BuildSettings(tmp_path)) == before
    read = tmp_path / reader.data[0]
    read.write_bytes(read.read_bytes() + b" ")
    assert chapter_fingerprint(reader, BuildSettings(tmp_path)) != before


def copied(folder: Path, part: Path = SRC) -> Path:
    """A copy of a part of the book, beside the configuration, which says what only draws."""
    shutil.copy(ROOT / CONFIG, folder)
    ignored = shutil.ignore_patterns("__pycache__")
    target = Path(shutil.copytree(part, folder / part.name, ignore=ignored))
    if part == SRC:
        shutil.copytree(BUILDER, target / BUILDER.name, ignore=ignored)
    return target
