"""Declared variations: how they are read, and what is planted."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bookbuild.errors import BookError
from evidence.outcomes import DECLARED
from evidence.variations import Change, Variation, planted, read_variations
from toy_book import LINE, SQUARE

SLIP = {"in": "src/a.py", "right": "x + 1", "wrong": "x"}
SMALL = {"in": "src/a.py", "right": "N = 9", "wrong": "N = 2"}
FAULT: dict[str, Any] = {"fault": "slip", "says": "No one.", "sees": [LINE], **SLIP}
CHANGE, LESS = Change("src/a.py", "x + 1", "x"), Change("src/a.py", "N = 9", "N = 2")


def read(root: Path, **document: Any) -> list[Variation]:
    (root / DECLARED).parent.mkdir(exist_ok=True)
    (root / DECLARED).write_text(yaml.safe_dump(document), encoding="utf-8")
    return read_variations(root)


def test_each_kind_is_read_and_a_fault_has_sizes_for_each_chapter(tmp_path: Path) -> None:
    assert read_variations(tmp_path) == []
    both = FAULT | {
        "fault": "two",
        "sees": [LINE, SQUARE],
        "at": {LINE: "reduced", SQUARE: "smoke"},
    }
    result = read(
        tmp_path,
        seeds=[100],
        roundings={"plain": {"A": "1"}},
        devices=["cuda"],
        reduced={LINE: {"changes": [SMALL]}},
        settings=[{"setting": "no bias", "sees": [LINE, SQUARE], "at": "smoke", **SLIP}],
        faults=[FAULT, both],
    )
    assert result == [
        Variation("seed 100", "seed", seed=100),
        Variation("rounding plain", "rounding", environment={"A": "1"}),
        Variation("device cuda", "device", device="cuda"),
        Variation("reduced sizes", "sizes", (LINE,), "reduced", changes=(LESS,)),
        Variation("no bias", "setting", (LINE, SQUARE), "smoke", changes=(CHANGE,)),
        Variation("slip", "fault", (LINE,), changes=(CHANGE,)),
        Variation("two", "fault", (LINE,), "reduced", changes=(LESS, CHANGE)),
        Variation("two", "fault", (SQUARE,), "smoke", changes=(CHANGE,)),
    ]


def test_what_decides_a_number_is_in_the_digest_and_who_sees_it_is_not(tmp_path: Path) -> None:
    (one,), (two,), (other,) = (
        read(tmp_path, faults=[FAULT | changed])
        for changed in ({}, {"sees": [SQUARE], "says": "None."}, {"wrong": "x + 2"})
    )
    assert one.declaration == two.declaration != other.declaration


def sources(root: Path) -> Path:
    for name, text in {"src/a.py": "N = 9\nf = x + 1\n", "book/b.md": "b", "data/c": "c"}.items():
        (root / name).parent.mkdir()
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_one_place_is_changed_in_a_copy(tmp_path: Path) -> None:
    with planted(Variation("slip", "fault", changes=(CHANGE, LESS)), sources(tmp_path)) as folder:
        assert (folder / "src/a.py").read_text(encoding="utf-8") == "N = 2\nf = x\n"
        assert (folder / "book/b.md").read_text(encoding="utf-8") == "b"
        assert (folder / "data/c").samefile(tmp_path / "data/c")
    assert (tmp_path / "src/a.py").read_text(encoding="utf-8") == "N = 9\nf = x + 1\n"
    assert (tmp_path / "data/c").is_file()
    assert not folder.exists()


@pytest.mark.parametrize(("file", "right", "times"), [("a", "=", 2), ("a", "y", 0), ("z", "=", 0)])
def test_a_text_that_is_not_there_once_is_refused(
    tmp_path: Path, file: str, right: str, times: int
) -> None:
    slip = Variation("slip", "fault", changes=(Change(f"src/{file}.py", right, "w"),))
    reason = f"^src/{file}.py has a text that is to be changed {times} times: .{right}"
    with pytest.raises(BookError, match=reason), planted(slip, sources(tmp_path)):
        pass
