"""Published results: used where the code is the same, and wrong ones found."""

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bookbuild.cli import published as commands
from bookbuild.costs import Spent
from bookbuild.errors import BookError
from bookbuild.execution.runs import StoredRun, stored_run
from bookbuild.published import check
from bookbuild.published import verify as module
from bookbuild.published.draw import Draw
from bookbuild.results import archive as archives
from bookbuild.results.archive import Archive, open_archive, write_archive
from bookbuild.results.contents import VARIES, different, everything, loosened
from bookbuild.results.keys import task_key
from bookbuild.results.store import SUFFIX, Store
from bookbuild.results.values import to_files
from bookbuild.source.chapters import read_chapters, read_toc
from running.records import Entry
from tools.forgeries.archive import replaced, reseal
from tools.toy_book import LINE, SQUARE, Command, Toy


def packed(toy: Toy, path: Path) -> Path:
    """The archive of a toy book."""
    write_archive(path, read_chapters(toy.root, read_toc(toy.root)), toy.settings())
    return path


@pytest.fixture
def published(toy: Toy, tmp_path: Path) -> Path:
    return packed(toy, tmp_path / "release" / archives.NAME)


def rewritten(path: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Change members of an archive."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, change(name, content))


def verified(toy: Toy, path: Path, minutes: float = 5, seed: int = 1) -> module.Report:
    toy.lines.clear()
    settings = toy.settings(profile="smoke", folder="_build")
    return module.verify_archive(settings, open_archive(path), minutes, seed, toy.lines.append)


def test_what_is_published_is_computed_again_and_equal(toy: Toy, published: Path) -> None:
    report = verified(toy, published)
    assert [outcome.grade for outcome in report.outcomes] == ["equal to the bit"] * 2
    assert report.sound
    assert (report.rows, report.measured, report.reading) == (2, 2, 0)
    assert report.draw.chance == 1
    assert not (toy.root / check.SCRATCH).exists()


@pytest.mark.parametrize(
    ("chapter", "old", "new", "among", "said"),
    [
        (LINE, "2.0,", "2.5,", "measures", "measure slope: 2.5 as published, 2 here"),
        (SQUARE, '"x": [0, 1,', '"x": [0, 1.5,', ".json", "array square.json: x: 1.5 as publ"),
        (SQUARE, "</svg>", "<g/></svg>", "square.svg", "drawing square.svg: "),
        (SQUARE, "</svg>", "<g/></svg>", "_narrow.svg", "drawing square_narrow.svg: "),
        (LINE, '"2.0"', '"2.5"', "notebook", "number slope in the prose: "),
    ],
)
def test_a_forgery_of_each_class_is_found_when_it_is_drawn(
    toy: Toy, published: Path, chapter: str, old: str, new: str, among: str, said: str
) -> None:
    reseal(published, chapter, replaced(old, new, among=among))
    report = verified(toy, published)
    assert report.damaged == ()
    (wrong,) = (outcome for outcome in report.outcomes if outcome.grade == "differs")
    assert wrong.name == chapter
    assert wrong.said[0].startswith(said)
    assert not report.sound


def test_a_declared_timing_may_differ_unless_the_ledger_judges_it(toy: Toy, tmp_path: Path) -> None:
    toy.append(SQUARE, "from time import time_ns\nreport('took', time_ns() % 1e9, judged=False)")
    front = "kernelspec: {name: python3, display_name: Python 3, language: python}\n"
    declared = f"{front}bookbuild: {{timings: [took, square_of_three]}}\n"
    toy.edit(f"book/{SQUARE}.md", front, declared)
    toy.build()
    path = packed(toy, tmp_path / archives.NAME)
    assert {x.grade for x in verified(toy, path).outcomes} == {"equal to the bit"}
    reseal(path, SQUARE, replaced("9.0", "8.5", among="measures"))
    (wrong,) = (x for x in verified(toy, path).outcomes if x.grade == "differs")
    assert wrong.said[0] == "measure square_of_three: 8.5 as published, 9 here"


def test_elsewhere_a_number_may_be_apart_by_a_hundredth_and_a_verdict_may_not_turn(
    toy: Toy, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "machine_name", lambda: "another")

    def graded(old: str, new: str, chapter: str = LINE, among: str = "measures") -> check.Outcome:
        reseal(published, chapter, replaced(old, new, among=among))
        (found,) = (x for x in verified(toy, published).outcomes if x.name == chapter)
        return found

    assert graded("2.0,", "2.001,").grade == "equal to 1%"
    wrong = graded("2.001,", "9.0,")
    assert wrong.grade == "differs"
    assert "partly as published, reproduced here" in wrong.said[0]
    assert graded('"x": [0, 1,', '"x": [0, 1.5,', SQUARE, ".json").grade == "undecided"


@pytest.mark.parametrize("seed", range(5))
def test_every_flipped_bit_is_found_without_a_draw(toy: Toy, published: Path, seed: int) -> None:
    dice = random.Random(seed)
    (item, *_) = dice.sample(open_archive(published).items, 1)

    def flip(name: str, content: bytes) -> bytes:
        if name != f"{item.key}{SUFFIX}":
            return content
        place = dice.randrange(len(content))
        return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]

    rewritten(published, flip)
    report = verified(toy, published, minutes=0)
    assert report.outcomes == ()
    assert len(report.damaged) == 1
    assert item.name in report.damaged[0]


def test_a_training_is_computed_again_with_its_chapter(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = {"module": "toy.line", "function": "slopes", "configuration": {"configuration": 1}}
    src = toy.root / "src"

    def put(store: Store, values: list[float]) -> None:
        origin = {"task": task, "device": "cpu"}
        files = to_files(np.array(values))
        store.put(task_key(task, "cpu", src), "sweep", "toy.line.slopes", origin, files)

    put(Store(toy.settings().results), [1.0, 2.0])
    path = packed(toy, tmp_path / archives.NAME)
    execute = check.execute_chapters

    def graded(again: list[float]) -> str:
        def executed(wanted: object, settings: object, display: object) -> object:
            assert not Store(settings.results).listed()  # no training is lent
            put(Store(settings.results), again)
            return execute(wanted, settings, display)

        monkeypatch.setattr(check, "execute_chapters", executed)
        (found,) = (x for x in verified(toy, path).outcomes if x.name == LINE)
        return found.grade

    assert graded([1.0, 2.0]) == "equal to the bit"
    assert graded([1.0, 2.001]) == "differs"
    monkeypatch.setattr(check, "machine_name", lambda: "another")
    assert graded([1.0, 2.001]) == "equal to 1%"
    assert graded([1.0, 2.1]) == "undecided"
    other = toy.settings(folder="other")
    open_archive(path).lend_trainings(other)
    assert len(Store(other.results).listed()) == 1


def test_what_runs_when_time_is_up_is_stopped_and_not_verified(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.append(LINE, "import time; time.sleep(8 if profile == 'paper' else 0)")
    toy.build()
    path = packed(toy, tmp_path / archives.NAME)
    costs = {LINE: Spent(0.1, "timed"), SQUARE: Spent(1e6, "timed")}
    monkeypatch.setattr(module, "chapter_costs", lambda *_: costs)
    report = verified(toy, path, minutes=0.1)
    assert (report.outcomes, report.unfinished) == ((), (LINE,))
    assert report.draw.never == [SQUARE]
    assert report.draw.chance == 0
    assert f"{LINE}: stopped and not verified, because the time is up" in toy.lines


@pytest.fixture
def run() -> StoredRun:
    """A stored run that a chapter reads."""
    entry = Entry({"seed": 1}, "c", "d0ff2d03361c", None, {"python": "3"}, 2.0, None, {"x": 1.0})
    stored = stored_run("data/tiny.json", entry)
    return StoredRun("tiny 1", "data/tiny.json", entry, stored, dict, current=True)


def test_a_stored_run_is_a_result_and_its_chapter_is_measured_with_it_alone(
    toy: Toy, tmp_path: Path, run: StoredRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy.root / "data/tiny.json").write_text("[]")
    toy.edit("book/paper/01_line.md", "data/points.csv]", "data/points.csv, data/tiny.json]")
    toy.build()
    path = tmp_path / archives.NAME
    chapters = read_chapters(toy.root, read_toc(toy.root))
    write_archive(path, chapters, toy.settings(), [run.stored])
    monkeypatch.setattr(module, "stored_runs", lambda *_: [run])
    costs = {run.file: {run.name: Spent(2.0, "timed")}}
    monkeypatch.setattr(module, "run_costs", lambda _: costs)
    monkeypatch.setattr(check, "run_again", lambda *_: run.stored.files)
    report = verified(toy, path)
    assert {outcome.name: outcome.grade for outcome in report.outcomes} == dict.fromkeys(
        (LINE, SQUARE, "tiny 1"), "equal to the bit"
    )
    assert (report.rows, report.measured, report.reading) == (2, 2, 1)
    forged = run.entry._replace(result={"x": 2.0})
    monkeypatch.setattr(check, "run_again", lambda *_: stored_run("data/tiny.json", forged).files)
    report = verified(toy, path)
    assert report.count("undecided") == 1  # nobody wrote down the machine that made it
    write_archive(path, chapters, toy.settings(), [stored_run("data/tiny.json", forged)])
    (sentence,) = verified(toy, path).damaged
    assert sentence.endswith("is not the stored run tiny 1 of this repository.")
    monkeypatch.setattr(module, "stored_runs", lambda *_: [])
    assert verified(toy, path).measured == 1  # the line's chapter reads what was not computed


def test_other_code_is_not_compared(toy: Toy, published: Path) -> None:
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    report = verified(toy, published)
    assert report.stale == (LINE,)
    assert LINE not in {outcome.name for outcome in report.outcomes}
    toy.edit("src/toy/square.py", "x * x", "x * x * 1")
    with pytest.raises(BookError, match=r"come from other code than this: check out the commit"):
        verified(toy, published)


@pytest.mark.usefixtures("without_site")
def test_a_build_takes_what_is_published_and_executes_the_rest(
    unbuilt: Toy, published: Path
) -> None:
    result = unbuilt.build(published=published)
    assert (result.told.executed, result.told.cached) == (0, 2)
    unbuilt.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    assert unbuilt.build(published=published).told.executed == 1
    assert f"executed here, because the published results do not fit: {LINE}" in unbuilt.lines
    with pytest.raises(BookError, match="holds the paper profile at first seed 0, not the paper"):
        unbuilt.build(published=published, seed=7)


@pytest.mark.usefixtures("without_site")
def test_a_build_does_not_take_a_damaged_chapter(unbuilt: Toy, published: Path) -> None:
    rewritten(published, lambda name, text: text if name == archives.MANIFEST else text[:-1])
    assert unbuilt.build(published=published).told.executed == 2
    assert any("is not the one that the manifest names" in line for line in unbuilt.lines)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "is not an archive of results: it cannot be read as one"),
        ({}, "the field 'profile' is missing"),
        ({"profile": "", "device": "cpu", "seed": 0, "items": [{"key": "../x"}]}, "is not a key"),
    ],
)
def test_what_is_no_archive_ends_in_a_sentence(
    tmp_path: Path, content: object, reason: str
) -> None:
    path = tmp_path / archives.NAME
    if content is None:
        path.write_text("?")
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(archives.MANIFEST, json.dumps(content))
    with pytest.raises(BookError, match=reason):
        open_archive(path)


def test_the_command_tells_what_was_drawn(
    toy: Toy, published: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("verify", "--device", "cpu", "--results", str(published), "--draw", "3")
    assert command(toy.root, *arguments) == ""
    printed = capsys.readouterr().out
    assert "drawn with DRAW=3: 2 of 2 results; 2 equal to the bit" in printed
    assert (
        "2 results that take up to 60 s, 2 were computed again, which finds an altered one"
        in printed
    )
    assert "of 2 judged rows of the ledger, 2 were measured again from scratch" in printed
    assert printed.splitlines()[-1].startswith("verified:")
    reseal(published, LINE, replaced("2.0,", "9.0,", among="measures"))
    assert command(toy.root, *arguments).endswith(
        "Not verified: 0 results are damaged and 1 differ."
    )
    build = ("build", "--device", "cpu", "--results", str(published))
    assert "because make verify found" in command(toy.root, *build)
    assert "RESULTS must name" in command(toy.root, "verify", "--results", "", "--device", "cpu")
    assert "MINUTES must be" in command(toy.root, *arguments, "--minutes", "soon")


def test_differences_are_found_at_their_place() -> None:
    before = {"a": {"b": [1.0, 2.0, float("nan")]}, "c": 1}
    assert different(before, {"a": {"b": [1.0, 2.0, float("nan")]}, "c": 1}, 0.0) == []
    after = {"a": {"b": [1.0, 2.01, float("nan")]}, "d": 1}
    assert different(before, after, 0.0) == [
        "a b: 2 as published, 2.01 here",
        "c: only as published",
        "d: only here",
    ]
    assert different(before["a"], after["a"], 0.01) == []
    assert different([1.0], [1.0, 2.0], 0.0) == [": of shape (1,) as published, (2,) here"]
    assert different([float("inf")], [1.0], 0.5) != []
    assert different(["x"], ["y"], 0.5) != []


def test_what_is_not_executed_is_not_packed(unbuilt: Toy, tmp_path: Path) -> None:
    with pytest.raises(
        BookError, match=f"Chapter {LINE} has not been executed: run make reproduce"
    ):
        packed(unbuilt, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def test_nothing_drawn_is_nothing_verified() -> None:
    report = module.Report((), (), Draw({"a": 1.0}, 0.0, 0), (), (), 1, 0, 0)
    (sentence,) = commands._wrong(report)
    assert "no result was computed again" in sentence


def test_all_that_readers_see_is_compared_but_for_what_may_vary(toy: Toy) -> None:
    found = everything(toy.entry(SQUARE))
    kinds = {" ".join(name.split()[:1]) for name in found}
    assert kinds == {"measure", "array", "kind", "settings", "drawing", "output", "number"}
    assert set(VARIES) == {"commit", "versions", "device", "seconds", "wall time"}
    assert all(toy.entry(SQUARE).origin["commit"] not in str(value) for value in found.values())
    assert loosened({"a": "x 1.5e-3 y -2"}) == {
        "a": {"words": "x # y #", "numbers": [0.0015, -2.0]}
    }


def test_an_archive_names_each_of_its_files(published: Path) -> None:
    archive: Archive = open_archive(published)
    with zipfile.ZipFile(published) as file:
        assert set(file.namelist()) == {
            archives.MANIFEST,
            *(f"{item.key}{SUFFIX}" for item in archive.items),
        }
