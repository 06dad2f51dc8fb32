"""The ledger at other first seeds: executed, recorded, resumed, and not believed if stale."""

import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import chapters as own
from bookbuild.errors import BookError
from bookbuild.execution import rounding
from bookbuild.ledger.carried import carried_on
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.expectations import Measured, read_expectation
from bookbuild.ledger.seed_sensitivity import Rerun, told
from bookbuild.ledger.stored import ROUNDING, SEEDS, read_record
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.source.chapters import read_chapter
from tools.records import seed_sensitivity
from tools.toy_book import LINE, Command, Toy


def run(toy: Toy, seeds: tuple[int, ...], scheduler: str | None = None) -> dict[str, Any]:
    settings = toy.settings(profile="smoke", part="paper", jobs=1)
    path = seed_sensitivity.run_seed_sensitivity(settings, seeds, *toy.heard(), scheduler)
    return json.loads(path.read_text(encoding="utf-8"))


def test_no_seed_occurs_twice() -> None:
    assert seed_sensitivity.first_seeds(3) == (100, 200, 300)
    names = (info.name for info in pkgutil.walk_packages(own.__path__, "chapters."))
    presets = [getattr(importlib.import_module(name), "PRESET", None) for name in names]
    counts = [preset["paper"].n_seeds for preset in presets if preset]
    assert len(counts) > 10
    assert max(counts) < seed_sensitivity.APART


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
    for result in unbuilt.settings().results.glob("*.result"):
        result.unlink()  # the record is whole, so that nothing is executed
    assert run(unbuilt, (100, 200)) == second
    assert unbuilt.started() == set()
    assert not (unbuilt.root / SEEDS).exists()  # the stored run is of the paper profile alone


def test_a_chapter_that_fails_is_named_and_the_record_stays(unbuilt: Toy) -> None:
    before = run(unbuilt, (100,))
    unbuilt.edit("src/toy/line.py", "2.0 * point", "point / 0")
    with pytest.raises(BookError, match=f"Chapter {LINE}.* failed: ZeroDivisionError"):
        run(unbuilt, (100,))
    path = seed_sensitivity.record_path(unbuilt.settings(profile="smoke"))
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

    entry = unbuilt.entry(LINE, profile="smoke", seed=100)
    path.unlink()
    seed_sensitivity.record_path(unbuilt.settings(profile="smoke")).unlink()
    monkeypatch.setattr(seed_sensitivity, "execute_here", worker)
    monkeypatch.setattr(seed_sensitivity, "_cluster", threads)
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
        seed_sensitivity.execute_here("paper/errata", "0" * 32, "smoke", 100, {"device": "cpu"})


COMMIT = "0123456789ab"


def stored(fingerprint: str, *values: float, measure: str = "slope") -> dict[str, Any]:
    verdicts = ["reproduced" if value == 2.0 else "contradicted" for value in values]
    row = {"measure": measure, "over": None, "values": list(values), "verdicts": verdicts}
    chapter = {"commit": COMMIT, "device": "cpu", "fingerprint": fingerprint, "seconds": 1.0}
    seeds = [100 * (1 + place) for place in range(len(values))]
    return {LINE: {**chapter, "seeds": seeds, "rows": {"line-slope": row}}}


@pytest.mark.usefixtures("without_site")
@pytest.mark.parametrize("record", [SEEDS, ROUNDING])
def test_a_stored_run_decides_also_when_it_is_of_earlier_code(unbuilt: Toy, record: Path) -> None:
    def verdict(fingerprint: str, *values: float, carried_to: str = "") -> str:
        chapters = stored(fingerprint, *values)
        if carried_to:
            chapters[LINE] = carried_on(chapters[LINE], fingerprint, carried_to, COMMIT, "smoke", 3)
        document = {"profile": "paper", "chapters": chapters}
        (unbuilt.root / record).write_text(json.dumps(document), encoding="utf-8")
        return unbuilt.build(part="paper").findings[0].verdict

    def table() -> str:
        path = unbuilt.settings().stage / "book" / "_generated" / "verdict_table.md"
        text = path.read_text(encoding="utf-8")
        assert f"Other {'rounding' if record == ROUNDING else 'first seeds'}: " in text
        return text

    current = chapter_fingerprint(read_chapter(unbuilt.root, LINE), unbuilt.settings())
    assert verdict(current, 2.0, 2.0) == "reproduced"
    assert "earlier code" not in table()
    assert verdict(current, 2.0, 9.0) == "partly"
    assert "reproduced here, " in table()
    assert "earlier code" not in table()
    assert verdict("another", 2.0, 9.0) == "partly"
    assert "measured by earlier code" in table()
    assert verdict("another", 2.0, 2.0, carried_to=current) == "reproduced"
    assert "carried over 1 edit that changed no bit of the smoke book" in table()


def test_an_edition_is_of_the_code_not_of_the_seed(unbuilt: Toy) -> None:
    def fingerprint(**settings: object) -> str:
        return chapter_fingerprint(read_chapter(unbuilt.root, LINE), unbuilt.settings(**settings))

    first = fingerprint()
    assert fingerprint(seed=100, profile="smoke", device="cuda") == first
    unbuilt.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    assert fingerprint() != first


def found(chapters: dict[str, Any], verdict: Any = "reproduced") -> Rerun | None:
    expectation = read_expectation({"at_most": 5})
    claim = Claim("line-slope", "§1", "A.", "paper", LINE, "slope", expectation)
    return told(Finding(claim, Measured(2.0, None), verdict), chapters, {LINE: "e"})


@pytest.mark.parametrize(
    ("chapters", "verdicts", "current"),
    [
        (stored("e", 2.0, 3.0), ("reproduced", "reproduced"), True),  # judged as of today
        (stored("another", 2.0, 9.0), ("reproduced", "contradicted"), False),
        (stored("e", 2.0, 9.0, measure="ratio"), ("reproduced", "contradicted"), False),
        (stored("e", 2.0, False), ("reproduced", "contradicted"), False),
        ({"paper/other": stored("e", 9.0)[LINE]}, ("contradicted",), False),
    ],
)
def test_what_a_row_has_against_it_stays_whatever_is_edited(
    chapters: dict[str, Any], verdicts: tuple[str, ...], current: bool
) -> None:
    """Its code, its measure, its expectation, its chapter: the stored verdicts are not lost."""
    rerun = found(chapters)
    assert rerun is not None
    assert (rerun.verdicts, rerun.current) == (verdicts, current)


def test_a_row_that_the_run_does_not_know_has_nothing_to_say() -> None:
    assert found({}) is None
    assert found(stored("e", 2.0), "not judged") is None
    without = stored("e", 2.0)
    del without[LINE]["rows"]["line-slope"]
    assert found(without) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda run: run.update(commit="unknown"), "is not a commit: 'unknown'"),
        (lambda run: run.update(commit=f"{COMMIT} with uncommitted changes"), "is not a commit"),
        (lambda run: run.update(carried=[{"from": "e", "to": "f"}]), "field 'commit' is missing"),
        (lambda run: run.update(carried=[]), "is not a list of edits"),
        (lambda run: run.pop("fingerprint"), "the field 'fingerprint' is missing"),
        (lambda run: run.update(seeds=["a"]), "is not a whole number: 'a'"),
        (lambda run: run["rows"]["line-slope"].update(over="runs"), "is not one of null"),
    ],
)
def test_a_malformed_run_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    chapters = stored("e", 2.0)
    change(chapters[LINE])
    (tmp_path / "data").mkdir()
    document = {"profile": "paper", "chapters": chapters}
    (tmp_path / SEEDS).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BookError, match=reason):
        read_record(tmp_path / SEEDS)


def test_a_record_is_of_a_commit(unbuilt: Toy) -> None:
    """A change of what is executed is refused at once; a record that was just written is none."""
    settings = unbuilt.settings(part="paper", jobs=1)

    def record() -> dict[str, Any]:
        path = seed_sensitivity.run_seed_sensitivity(settings, (100,), *unbuilt.heard())
        return json.loads(path.read_text(encoding="utf-8"))["chapters"][LINE]

    with pytest.raises(BookError, match="commit src, book and data first"):
        record()
    (unbuilt.root / ".gitignore").write_text("_build\n", encoding="utf-8")
    unbuilt.git("init")
    unbuilt.git("add", ".")
    unbuilt.git("commit", "--message=a")
    assert re.fullmatch("[0-9a-f]{12}", record()["commit"])
    assert record()["rows"]["line-slope"]["verdicts"] == ["reproduced"]
    (unbuilt.root / "README.md").write_text("New.", encoding="utf-8")
    record()
    unbuilt.edit("src/toy/line.py", "2.0 * point", "2 * point")
    with pytest.raises(BookError, match="commit src, book and data first"):
        record()
    assert list(read_record(unbuilt.root / SEEDS)["chapters"]) == [LINE]


def test_another_rounding_reaches_the_chapters_and_has_a_record_of_its_own(
    unbuilt: Toy, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(rounding.ROUNDINGS["compatible"])
    telling = f"import os\nset_ = {{name: name in os.environ for name in {names}}}\n"
    unbuilt.append(LINE, f'{telling}report("set", set_, over="settings", judged=False)')
    monkeypatch.setattr(rounding, "check", lambda _: None)
    options = ("--profile", "smoke", "--part", "paper", "--device", "cpu", "--jobs", "1")
    assert command(unbuilt.root, "seeds", *options, "--rounding", "compatible") == ""
    folder = unbuilt.root / "_build" / "rounding-compatible"
    document = json.loads((folder / "smoke" / "rounding.json").read_text(encoding="utf-8"))
    chapter = document["chapters"][LINE]
    assert (chapter["seeds"], chapter["rounding"]) == ([0], "compatible")

    def measured(folder: str) -> dict[str, bool]:
        return unbuilt.entry(LINE, profile="smoke", folder=folder).measures["set"]["value"]

    run(unbuilt, (0,))
    assert measured("_build/rounding-compatible") == dict.fromkeys(names, True)
    assert measured("_build") == dict.fromkeys(names, False)


def test_a_rounding_that_tests_nothing_is_refused(
    unbuilt: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = unbuilt.settings()
    with pytest.raises(BookError, match="ROUNDING must be one of avx2, compatible, not 'up'"):
        seed_sensitivity.rounded(settings, "up")
    with pytest.raises(BookError, match="add DEVICE=cpu"):
        seed_sensitivity.rounded(unbuilt.settings(device="cuda"), "avx2")
    monkeypatch.setitem(rounding.ROUNDINGS, "none", {"OMP_DISPLAY_ENV": "false"})
    with pytest.raises(BookError, match="changes no bit of products or elementwise functions"):
        seed_sensitivity.rounded(settings, "none")
    other = unbuilt.settings(rounding="avx2")
    with pytest.raises(BookError, match="leave out SCHEDULER"):
        seed_sensitivity.run_seed_sensitivity(other, (0,), *unbuilt.heard(), "tcp://a:1")
