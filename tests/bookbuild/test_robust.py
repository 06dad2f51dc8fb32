"""The ledger at other first seeds: executed, recorded, resumed, and not believed if stale."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import emergence
from bookbuild import robust
from bookbuild.errors import BookError
from bookbuild.execution.display import PlainDisplay
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.expectations import Measured, read_expectation
from bookbuild.ledger.robust import RECORD, read_robust, told
from bookbuild.results.keys import chapter_edition
from bookbuild.source.chapters import read_chapter

if TYPE_CHECKING:
    from conftest import Toy

LINE = "paper/01_line"


def run(toy: Toy, seeds: tuple[int, ...], scheduler: str | None = None) -> dict[str, Any]:
    toy.lines.clear()
    settings = toy.settings(profile="smoke", part="paper", jobs=1)
    display = PlainDisplay(toy.lines.append)
    path = robust.run_robust(settings, seeds, display, toy.lines.append, scheduler)
    return json.loads(path.read_text(encoding="utf-8"))


def test_no_seed_occurs_twice() -> None:
    assert robust.first_seeds(3) == (100, 200, 300)
    names = (info.name for info in pkgutil.walk_packages(emergence.__path__, "emergence."))
    rooms = [n for n in names if n.startswith(("emergence.experiments.", "emergence.companions."))]
    presets = [getattr(importlib.import_module(name), "PRESET", None) for name in rooms]
    counts = [preset["paper"].n_seeds for preset in presets if preset]
    assert len(counts) > 10
    assert max(counts) < robust.APART


def test_a_run_goes_on_where_it_was_and_records_its_part(unbuilt: Toy) -> None:
    first = run(unbuilt, (100,))
    assert unbuilt.started() == {LINE}
    assert list(first["chapters"]) == [LINE]
    assert first["profile"] == "smoke"
    second = run(unbuilt, (100, 200))
    assert [line for line in unbuilt.lines if "started" in line] == [f"{LINE}: started"]
    chapter = second["chapters"][LINE]
    assert chapter["seeds"] == [100, 200]
    assert chapter["rows"]["line-slope"]["verdicts"] == ["not judged"] * 2
    assert len(chapter["rows"]["line-slope"]["values"]) == 2
    assert run(unbuilt, (100, 200)) == second
    assert unbuilt.started() == set()
    assert not (unbuilt.root / RECORD).exists()  # the stored run is of the paper profile alone


def test_a_chapter_that_fails_is_named_and_the_record_stays(unbuilt: Toy) -> None:
    before = run(unbuilt, (100,))
    unbuilt.edit("src/toy/line.py", "2.0 * point", "point / 0")
    with pytest.raises(BookError, match=f"Chapter {LINE}.* failed: ZeroDivisionError"):
        run(unbuilt, (100,))
    path = robust.record_path(unbuilt.settings(profile="smoke"))
    assert json.loads(path.read_text(encoding="utf-8")) == before


def test_workers_of_a_cluster_execute_and_this_machine_keeps(
    unbuilt: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = run(unbuilt, (100,))
    (path,) = unbuilt.settings().results.glob("*.result")
    sealed, orders = path.read_bytes(), []

    def worker(name: str, key: str, *order: object) -> tuple[dict[str, Any], dict[str, bytes]]:
        orders.append((name, key, *order))
        if order[1] == 200:
            raise RuntimeError("the worker has other sources or versions than this machine.")
        return dict(entry.origin), dict(entry.files)

    entry, _ = robust.executed.find(unbuilt.settings(), path.stem)
    assert entry is not None
    path.unlink()
    monkeypatch.setattr(robust, "execute_here", worker)
    monkeypatch.setattr(robust, "_cluster", threads)
    assert run(unbuilt, (100,), "tcp://a:1") == here
    assert [order[:4] for order in orders] == [(LINE, path.stem, "smoke", 100)]
    assert len(path.read_bytes()) == len(sealed)
    with pytest.raises(BookError, match=f"{LINE} at first seed 200 failed: the worker has other"):
        run(unbuilt, (100, 200), "tcp://a:1")
    assert len(orders) == 2


@contextmanager
def threads(_: str) -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_worker_with_other_sources_refuses() -> None:
    with pytest.raises(RuntimeError, match="other sources or versions"):
        robust.execute_here("paper/errata", "0" * 32, "smoke", 100, {"device": "cpu"})


def stored(edition: str, *values: float, measure: str = "slope") -> dict[str, Any]:
    row = {"measure": measure, "over": None, "values": list(values), "verdicts": []}
    chapter = {"commit": "abc", "device": "cpu", "edition": edition, "seconds": 1.0}
    seeds = [100 * (1 + place) for place in range(len(values))]
    return {LINE: {**chapter, "seeds": seeds, "rows": {"line-slope": row}}}


@pytest.mark.usefixtures("without_site")
def test_a_stored_run_decides_unless_it_is_of_an_earlier_edition(unbuilt: Toy) -> None:
    def verdict(edition: str, *values: float) -> str:
        document = {"profile": "paper", "chapters": stored(edition, *values)}
        (unbuilt.root / RECORD).write_text(json.dumps(document), encoding="utf-8")
        return unbuilt.build(part="paper").findings[0].verdict

    def table() -> str:
        path = unbuilt.settings().stage / "book" / "_generated" / "verdict_table.md"
        return path.read_text(encoding="utf-8")

    current = chapter_edition(read_chapter(unbuilt.root, LINE), unbuilt.settings())
    assert verdict(current, 2.0, 2.0) == "reproduced"
    assert "Other first seeds: holds at 2 of 2." in table()
    assert verdict(current, 2.0, 9.0) == "partly"
    assert "flips: reproduced here, reproduced from 100, contradicted from 200." in table()
    assert verdict("another", 2.0, 9.0) == "reproduced"
    assert "from an earlier edition: holds at 1 of 2." in table()


def test_an_edition_is_of_the_code_not_of_the_seed(unbuilt: Toy) -> None:
    def edition(**settings: object) -> str:
        return chapter_edition(read_chapter(unbuilt.root, LINE), unbuilt.settings(**settings))

    first = edition()
    assert edition(seed=100, profile="smoke", device="cuda") == first
    unbuilt.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    assert edition() != first


@pytest.mark.parametrize(
    ("chapters", "known"),
    [
        (stored("e", 2.0), True),
        (stored("e", 2.0, measure="ratio"), False),
        (stored("e", True), False),
        ({}, False),
    ],
)
def test_a_row_that_the_run_does_not_know_shows_nothing(
    chapters: dict[str, Any], known: bool
) -> None:
    expectation = read_expectation({"at_most": 5})
    claim = Claim("line-slope", "§1", "A.", "paper", LINE, "slope", expectation)
    found = told(Finding(claim, Measured(2.0, None), "reproduced"), chapters, {LINE: "e"})
    assert (found is not None) is known
    assert told(Finding(claim, Measured(2.0, None), "not judged"), chapters, {LINE: "e"}) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda chapter: chapter.pop("edition"), "the field 'edition' is missing"),
        (lambda chapter: chapter.update(seeds=["a"]), "is no whole number: 'a'"),
        (lambda chapter: chapter["rows"]["line-slope"].update(over="runs"), "is none of null"),
    ],
)
def test_a_malformed_run_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    chapters = stored("e", 2.0)
    change(chapters[LINE])
    (tmp_path / "data").mkdir()
    document = {"profile": "paper", "chapters": chapters}
    (tmp_path / RECORD).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BookError, match=reason):
        read_robust(tmp_path)
