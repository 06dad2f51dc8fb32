"""What is kept of long runs: results by their arguments, and entries of stored runs."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from bookbuild.execution.runs import File
from bookbuild.source.book import read_book
from emergence.running import cache
from emergence.running.memo import kept
from emergence.running.records import Entry, StoredRuns, seeds_of, written
from interruption import Memory, bits
from tools.this_book import ROOT

calls: list[Any] = []


class Pair(NamedTuple):
    left: Tensor
    right: float | None


class Longer(NamedTuple):
    left: Tensor
    right: float
    more: list[int]


@dataclass(frozen=True)
class Whole:
    pairs: tuple[Pair, ...]
    table: dict[str, np.ndarray]
    counts: list[int]


@kept
def analyse(size: int, scale: float = 1.0) -> Whole:
    calls.append((size, scale, cache.is_inner()))
    pair = Pair(scale * torch.arange(size), None)
    return Whole((pair, Pair(torch.ones(1), 2.0)), {"a": np.eye(size)}, [size])


@kept
def applied(function: Callable[[float], float]) -> Longer:
    longer = Longer(torch.zeros(1), function(1.0), [len(calls)])
    calls.append(longer.right)
    return longer


def plus(amount: float) -> Callable[[float], float]:
    return lambda x: x + amount


@kept
def drawn(stream: torch.Generator) -> Tensor:
    return torch.randn(2, generator=stream)


@kept
def nameless(size: int) -> object:
    return size


def test_it_is_computed_once_for_each_argument_however_it_is_written() -> None:
    calls.clear()
    fresh = analyse(3)
    with cache.attached(Memory()):
        result = [analyse(3), analyse(size=3), analyse(3, scale=1.0)]
        analyse(4)
    assert calls == [(3, 1.0, False), (3, 1.0, True), (4, 1.0, True)]
    assert all(
        type(value) is Whole and bits(asdict(value)) == bits(asdict(fresh)) for value in result
    )


def test_a_result_that_its_annotation_does_not_describe_is_refused() -> None:
    assert nameless(3) == 3
    with cache.attached(Memory()), pytest.raises(TypeError, match="cannot be kept"):
        nameless(3)


def test_a_stream_goes_on_from_where_the_function_leaves_it() -> None:
    streams = [torch.Generator().manual_seed(0) for _ in range(3)]
    with cache.attached(Memory()):
        result = [torch.stack([drawn(stream), drawn(stream)]) for stream in streams[:2]]
    fresh = torch.randn(4, generator=streams[2]).view(2, 2)
    assert all(torch.equal(value, fresh) for value in result)


def test_what_takes_no_time_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "short", 60.0)
    calls.clear()
    with cache.attached(Memory()):
        analyse(3), analyse(3)
    assert len(calls) == 2


def test_functions_are_told_apart_by_what_they_have_taken() -> None:
    calls.clear()
    with cache.attached(Memory()):
        result = [applied(plus(amount)) for amount in (1.0, 2.0, 1.0)]
    assert [value.right for value in result] == [2.0, 3.0, 2.0]
    assert calls == [2.0, 3.0]
    assert [value.more for value in result] == [[0], [1], [0]]
    assert type(result[2]) is Longer


REGISTERED = read_book(ROOT).stored_runs


@dataclass(frozen=True)
class Inner:
    """A part of a configuration."""

    rates: tuple[float, ...] = (0.5,)
    pair: tuple[int, str] = (1, "a")


@dataclass(frozen=True)
class Cell:
    """A configuration of every type that the stored ones have."""

    size: int
    inner: Inner | None = None
    kind: Literal["one", "other"] = "one"
    sharpness: float = 1.0
    stages: tuple[tuple[int, ...], ...] = ()
    single: bool = False


def square(cell: Cell) -> dict[str, int]:
    """A run."""
    return {"is": cell.size**2}


def scaled(cell: Cell, *, factor: int) -> int:
    """A run that needs a table."""
    return factor * cell.size


CELLS = (
    Cell(3),
    Cell(4, Inner((1.0, 0.25), (2, "b")), "other", float("inf"), ((1,), (1, 2)), True),
)
RUNS = StoredRuns(square, CELLS)
MADE = [
    Entry(CELLS[0], "c0de", "abc", "here", {"python": "3.11"}, 1.5, "2026-01-01", {"is": 9}),
    Entry(CELLS[1], None, None, None, {}, None, None, {"is": 16, "never": None}),
]
TEXT = written(MADE)


def test_entries_come_back_as_they_were_and_have_a_line_each():
    assert RUNS.entries(TEXT) == MADE
    assert RUNS.read(TEXT) == {CELLS[0]: {"is": 9}, CELLS[1]: {"is": 16, "never": None}}
    assert len(TEXT.splitlines()) == len(MADE) + 2
    assert '"sharpness": "inf"' in TEXT
    assert RUNS.entries(written([])) == []


@pytest.mark.parametrize("text", ["", TEXT[: len(TEXT) // 2]], ids=["empty", "half"])
def test_a_truncated_file_is_told_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"^the stored runs of Cell are damaged: no JSON$"):
        RUNS.read(text)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (TEXT, "[1, 2]", "mapping"),
        ('"size": 3', '"width": 3', "Cell has other settings: size, width"),
        ('"size": 3', '"size": "3"', "'3' is not of type int"),
        ('"size": 3', '"size": true', "True is not of type int"),
        ('"kind": "one"', '"kind": "third"', "'third' is not of type"),
        ('"sharpness": 1.0', '"sharpness": "much"', "'much' is not of type float"),
        ('"inner": null', '"inner": 5', "5 is not of type"),
        ('[2, "b"]', "[2]", r"\[2\] is not of type"),
        ('"": "Inner"', '"": "Outer"', "is not of type"),
        ('"code": null, ', "", "code"),
    ],
)  # fmt: skip
def test_a_file_of_other_runs_is_told_in_a_sentence(old, new, why):
    changed = TEXT.replace(old, new)
    assert changed != TEXT
    with pytest.raises(ValueError, match=f"^these are no stored runs of Cell: .*{why}"):
        RUNS.read(changed)


def test_a_configuration_is_there_once():
    with pytest.raises(ValueError, match="there twice"):
        RUNS.read(written([MADE[0], MADE[0]._replace(code=None)]))


def test_what_is_not_a_number_is_not_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        written([MADE[0]._replace(result=[float("nan")])])


def test_tables_are_read_from_files_and_bound(tmp_path):
    (tmp_path / "factor.txt").write_text("7")
    runs = StoredRuns(scaled, CELLS, tables={"factor": ("factor.txt", int)})
    assert runs.bound(tmp_path)(CELLS[1]) == 28
    assert runs.read(written([MADE[0]])) == {CELLS[0]: {"is": 9}}
    assert RUNS.bound(tmp_path) is square


@dataclass(frozen=True)
class Seeded:
    """A configuration with seeds, under all names that the stored ones give them."""

    inner: Inner = Inner()
    seed: int = 7
    seeds: tuple[int, ...] = (1, 2)
    first_seed: int = 500
    n_seeds: int = 2


@dataclass(frozen=True)
class Outer:
    """A configuration whose part has the seeds."""

    cell: Seeded = Seeded(seed=3)


def test_the_seeds_of_a_configuration_are_those_of_its_parts_as_well():
    assert seeds_of(Cell(3, Inner())) == set()
    assert seeds_of(Seeded()) == {1, 2, 7, 500, 501}
    assert seeds_of(Outer()) == {1, 2, 3, 500, 501}


@pytest.mark.parametrize("file", REGISTERED)
def test_a_stored_file_is_written_to_the_same_bytes_and_declared(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    result = File(file, ROOT, ROOT / "src")
    assert written(result.entries.values()) == text
    # a run made before its code was committed says so; its digest tells which code it was
    assert all(
        re.fullmatch(r"[0-9a-f]{12}( with uncommitted changes)?", entry.commit)
        for entry in result.entries.values()
    )
    assert len({*result.runs.cells}) == len(result.runs.cells)
    assert {*result.entries} <= {*result.runs.cells}


def test_every_file_of_stored_runs_is_registered():
    named = {path.relative_to(ROOT).as_posix() for path in (ROOT / "data").rglob("*.json")}
    stored = {
        name
        for name in named
        if isinstance(entries := json.loads((ROOT / name).read_text(encoding="utf-8")), list)
        and "configuration" in entries[0]
    }
    assert stored == {*REGISTERED}
