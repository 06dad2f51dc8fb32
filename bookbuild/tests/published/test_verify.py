"""Published results: what they are taken for, and what is found when they are altered."""

import json
import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bookbuild.cli import published as commands
from bookbuild.costs import Spent
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.published import check
from bookbuild.published import verify as module
from bookbuild.published.check import Outcome
from bookbuild.published.draw import Draw
from bookbuild.published.fetch import borrowing
from bookbuild.results import archive as archives
from bookbuild.results.archive import open_archive, write_archive
from bookbuild.results.contents import different
from bookbuild.results.store import Store
from bookbuild.results.values import to_files
from bookbuild.source.chapters import read_chapters, read_toc
from tools.toy_book import LINE, SQUARE, Command, Toy

Change = Callable[[Any], Any]


def packed(toy: Toy, path: Path) -> Path:
    """The archive of a toy book."""
    write_archive(path, read_chapters(toy.root, read_toc(toy.root)), toy.settings())
    return path


@pytest.fixture
def published(toy: Toy, tmp_path: Path) -> Path:
    return packed(toy, tmp_path / "release" / archives.NAME)


def altered(path: Path, folder: str, change: Change) -> None:
    """Change the value in a folder of an archive, in all honesty of its form."""
    archive = open_archive(path)
    value = change(archive._value(folder))
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    kept = {name: x for name, x in members.items() if name.rpartition("/")[0] != folder}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in kept.items():
            file.writestr(name, content)
        for name, content in to_files(value).items():
            file.writestr(f"{folder}/{name}", content)


def measure(key: str, value: Any) -> Change:
    """Replace a measure of a chapter."""
    return lambda numbers: numbers | {"measures": numbers["measures"] | {key: value}}


def slopes(*found: float) -> Change:
    """Replace the result of the task, which no stream of random numbers comes with."""
    return lambda _: [[*found], []]


def task(path: Path) -> str:
    """The folder of the one task of the toy book."""
    (fingerprint,) = open_archive(path).results
    return f"results/{fingerprint}"


def verified(toy: Toy, path: Path, minutes: float = 5, seed: int = 1) -> module.Report:
    toy.lines.clear()
    settings = toy.settings(profile="smoke", folder="_build")
    return module.verify_archive(settings, open_archive(path), minutes, seed, toy.lines.append)


def outcome(toy: Toy, path: Path, name: str) -> Outcome:
    (found,) = (x for x in verified(toy, path).outcomes if x.name == name)
    return found


def test_what_is_published_is_computed_again_and_equal(toy: Toy, published: Path) -> None:
    report = verified(toy, published)
    assert [outcome.grade for outcome in report.outcomes] == ["equal to the bit"] * 2
    assert report.sound
    assert (report.rows, report.measured, report.reading) == (2, 2, 0)
    assert report.draw.chance == report.draw.least == 1
    assert report.seen == {"measures": 1.0, "figures": 1.0, "tasks": 1.0}
    assert not (toy.root / check.SCRATCH).exists()


@pytest.mark.parametrize(
    ("chapter", "folder", "change", "said"),
    [
        (LINE, f"chapters/{LINE}", measure("slope", [2.5, 2.0, 2.0]), "measures slope: 2.5 as pub"),
        (
            SQUARE,
            f"chapters/{SQUARE}",
            lambda numbers: numbers | {"figures": {"square": []}},
            "figures square",
        ),
        (LINE, "", slopes(2.0, 2.0, 2.0000001), "tasks "),
    ],
)
def test_an_altered_number_of_each_class_is_found_when_its_chapter_is_drawn(
    toy: Toy, published: Path, chapter: str, folder: str, change: Change, said: str
) -> None:
    altered(published, folder or task(published), change)
    wrong = outcome(toy, published, chapter)
    assert wrong.grade == "differs"
    assert any(line.startswith(said) for line in wrong.said)


def test_a_declared_timing_may_differ_unless_the_ledger_judges_it(toy: Toy, tmp_path: Path) -> None:
    toy.append(SQUARE, "from time import time_ns\nreport('took', time_ns() % 1e9, judged=False)")
    front = "kernelspec: {name: python3, display_name: Python 3, language: python}\n"
    declared = f"{front}bookbuild: {{timings: [took, square_of_three]}}\n"
    toy.edit(f"book/{SQUARE}.md", front, declared)
    toy.build()
    path = packed(toy, tmp_path / archives.NAME)
    assert {x.grade for x in verified(toy, path).outcomes} == {"equal to the bit"}
    altered(path, f"chapters/{SQUARE}", measure("square_of_three", 8.5))
    wrong = outcome(toy, path, SQUARE)
    assert wrong.grade == "differs"
    assert "measures square_of_three: 8.5 as published, 9 here" in wrong.said


def test_elsewhere_a_number_may_be_apart_by_a_hundredth_and_a_verdict_may_not_turn(
    toy: Toy, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "machine_name", lambda: "another")

    def graded(change: Change, chapter: str = LINE) -> Outcome:
        altered(published, f"chapters/{chapter}", change)
        return outcome(toy, published, chapter)

    assert graded(measure("slope", [2.001, 2.0, 2.0])).grade == "equal to 1%"
    wrong = graded(measure("slope", [9.0, 2.0, 2.0]))
    assert wrong.grade == "differs"
    assert "partly as published, reproduced here" in wrong.said[0]
    moved = graded(lambda x: x | {"figures": {"square": [[0.0, 1.5], [0.0, 1.0]]}}, SQUARE)
    assert moved.grade == "undecided"
    altered(published, task(published), slopes(2.02, 2.0, 2.0))
    assert verified(toy, published).seen["tasks"] == 1.0


def test_a_turned_verdict_counts_within_the_tolerance(
    toy: Toy, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "machine_name", lambda: "another")
    monkeypatch.setattr(check, "TOLERANCE", 10.0)
    altered(published, f"chapters/{LINE}", measure("slope", [9.0, 2.0, 2.0]))
    assert outcome(toy, published, LINE).grade == "differs"


def test_a_build_takes_a_task_that_is_published_and_keeps_what_rests_on_it_apart(
    unbuilt: Toy, published: Path, without_site: None
) -> None:
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    lent = borrowing(unbuilt.settings(), published)
    unbuilt.build(published=lent.published, store=lent.store)
    assert unbuilt.entry(LINE, store=lent.store).measures["slope"]["value"] == [9.0, 9.0, 9.0]
    assert any("2 are published, and 1 of them measure the same" in x for x in unbuilt.lines)
    assert not unbuilt.settings().results.exists()
    unbuilt.build()
    assert unbuilt.entry(LINE).measures["slope"]["value"] == [2.0, 2.0, 2.0]


@pytest.mark.usefixtures("without_site")
def test_a_build_refuses_a_damaged_result_that_a_page_asks_for(
    unbuilt: Toy, published: Path
) -> None:
    rewritten(published, {f"{task(published)}/value.json": b'"<script>"'})
    lent = borrowing(unbuilt.settings(), published)
    with pytest.raises(BookError, match=r"results\.zip is refused: a result is not the result"):
        unbuilt.build(published=lent.published, store=lent.store)


@pytest.mark.usefixtures("without_site")
def test_nothing_is_lent_to_a_chapter_that_is_left_out_of_an_archive(
    toy: Toy, published: Path, tmp_path: Path
) -> None:
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    with zipfile.ZipFile(published) as file:
        members = {name: file.read(name) for name in file.namelist()}
    left = {name: x for name, x in members.items() if not name.startswith(f"chapters/{LINE}")}
    manifest = json.loads(members[archives.MANIFEST])
    hidden = manifest["chapters"].pop(LINE)["results"]

    def packed_so() -> Path:
        with zipfile.ZipFile(published, "w") as file:
            for name, content in (left | {archives.MANIFEST: json.dumps(manifest)}).items():
                file.writestr(name, content)
        return published

    with pytest.raises(BookError, match="not hold exactly the results that its manifest names"):
        open_archive(packed_so())
    manifest["chapters"][SQUARE]["results"] = hidden
    settings = borrowing(toy.settings(), packed_so())
    toy.build(published=settings.published, store=settings.store)
    assert toy.entry(LINE, store=settings.store).measures["slope"]["value"] == [2.0, 2.0, 2.0]
    wrong = outcome(toy, published, SQUARE)
    assert wrong.said[0].startswith(f"tasks {hidden[0]} ")
    assert wrong.said[0].endswith(": only as published")


def test_a_chapter_of_other_code_can_be_altered_freely_and_this_is_said(
    toy: Toy, published: Path
) -> None:
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    report = verified(toy, published)
    assert (report.stale, report.least, report.draw.least) == ((LINE,), 0.0, 1.0)


@pytest.mark.usefixtures("without_site")
def test_a_build_from_an_archive_can_be_packed_again(
    unbuilt: Toy, published: Path, tmp_path: Path
) -> None:
    settings = borrowing(unbuilt.settings(), published)
    unbuilt.build(published=settings.published, store=settings.store)
    chapters = read_chapters(unbuilt.root, read_toc(unbuilt.root))
    again = write_archive(tmp_path / "again.zip", chapters, settings)
    first = open_archive(published)
    assert again.members == first.members
    assert not different(again.numbers(LINE), first.numbers(LINE), 0.0)
    with pytest.raises(BookError, match="holds the paper profile at first seed 0, not the paper"):
        borrowing(unbuilt.settings(seed=7), published)


def test_what_runs_when_time_is_up_is_not_verified_and_an_error(
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
    assert report.draw.chance == report.draw.least == 0
    assert commands._wrong(report) == [
        f"Not verified: the time was up while {LINE} was computed: give more MINUTES."
    ]


def test_other_code_is_not_compared(toy: Toy, published: Path) -> None:
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    report = verified(toy, published)
    assert report.stale == (LINE,)
    assert LINE not in {outcome.name for outcome in report.outcomes}
    toy.edit("src/toy/square.py", "x * x", "x * x * 1")
    with pytest.raises(BookError, match=r"come from other code than this: check out the commit"):
        verified(toy, published)


def test_nothing_that_an_archive_says_decides_how_it_is_checked(
    toy: Toy, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    execute = check.execute_chapters

    def executed(wanted: Any, settings: Any, display: Any) -> Any:
        asked.append((settings.threads_each, settings.published, Store(settings.results).listed()))
        return execute(wanted, settings, display)

    monkeypatch.setattr(check, "execute_chapters", executed)
    with zipfile.ZipFile(published) as file:
        manifest = json.loads(file.read(archives.MANIFEST))
    changed = json.dumps(manifest | {"threads": 64}).encode()
    rewritten(published, {archives.MANIFEST: changed})
    assert open_archive(published).threads == 64
    assert verified(toy, published).sound
    assert set(map(repr, asked)) == {repr((toy.settings().threads_each, None, []))}


def test_the_command_tells_what_was_drawn(
    toy: Toy, published: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("verify", "--device", "cpu", "--results", str(published), "--draw", "3")
    assert command(toy.root, *arguments) == ""
    printed = capsys.readouterr().out
    assert "drawn with DRAW=3: 2 of 2 chapters; 2 equal to the bit" in printed
    assert "2 chapters that take up to 60 s, 2 were computed again" in printed
    assert "find it in 100% of cases if a forger chose it, and in 100%" in printed
    assert "changed by 2% would be seen in 100.0% of measures, 100.0% of the data" in printed
    assert "of 2 judged rows of the ledger, 2 were measured again from scratch" in printed
    assert printed.splitlines()[-1].startswith("verified:")
    altered(published, f"chapters/{LINE}", measure("slope", [9.0, 2.0, 2.0]))
    assert command(toy.root, *arguments).endswith("1 chapters differ from what was published.")
    build = ("build", "--device", "cpu", "--results", str(published))
    assert "because verify found" in command(toy.root, *build)
    assert "RESULTS must name" in command(toy.root, "verify", "--results", "", "--device", "cpu")
    assert "MINUTES must be" in command(toy.root, *arguments, "--minutes", "soon")


def test_what_is_not_executed_is_not_packed(unbuilt: Toy, tmp_path: Path) -> None:
    with pytest.raises(BookError, match=f"Chapter {LINE} has not been executed: run python"):
        packed(unbuilt, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def test_nothing_drawn_is_nothing_verified() -> None:
    report = module.Report((), False, Draw({"a": 1.0}, 0.0, 0), (), (), 1, 0, 0, {})
    (sentence,) = commands._wrong(report)
    assert "No chapter was computed again" in sentence


def test_a_forger_with_every_field_free_is_found_as_often_as_is_said(
    toy: Toy, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapters = {c.name: c for c in read_chapters(toy.root, read_toc(toy.root))}
    claims = read_claims(toy.root, list(chapters))
    honest, store = {name: toy.entry(name) for name in chapters}, Store(toy.settings().results)
    monkeypatch.setattr(check, "execute_chapters", lambda wanted, *_: (honest, []))
    monkeypatch.setattr(check, "Store", lambda _: store)
    monkeypatch.setattr(check, "chapter_key", lambda chapter, _: honest[chapter.name].key)
    folders = {LINE: [f"chapters/{LINE}", task(published)], SQUARE: [f"chapters/{SQUARE}"]}
    with zipfile.ZipFile(published) as file:
        members = {name: file.read(name) for name in file.namelist()}
    dice, stated, found = random.Random(0), 0.0, 0
    for number in range(1000):
        path = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members.items():
                file.writestr(name, content)
        costs = {LINE: dice.choice([1.0, 30.0]), SQUARE: dice.choice([1.0, 30.0])}
        victim = max(costs, key=lambda name: (costs[name], name))  # what is drawn least often
        altered(path, dice.choice(folders[victim]), lambda value: forged(value, dice))
        told = {"machine": dice.choice(["a", "b"]), "threads": dice.choice([1, 2, 64])}
        changed = json.dumps(json.loads(members[archives.MANIFEST]) | told | {"commit": "c"})
        if dice.random() < 0.8:  # another machine, for which less has to agree
            rewritten(path, {archives.MANIFEST: changed.encode()})
        archive = open_archive(path)
        look = check.Check(archive, chapters, claims, toy.settings(), math.inf)
        draw, left, bad = Draw(costs, dice.choice([1.5, 31.0, 90.0]), number), 0.0, False
        while name := draw.next(draw.budget - left):
            outcome = look(name)
            bad |= outcome.grade in check.WRONG
            left += costs[name]
            draw.took(name, costs[name])
        stated += draw.least * min(module._shares(archive, check.TOLERANCE).values())
        found += bad
    assert found >= stated
    assert 200 < stated < 900


def forged(value: Any, dice: random.Random) -> Any:
    """A result with one of its numbers changed by 2% or more."""
    factor = dice.choice([1.02, 0.97, -1.0, 3.0])
    if isinstance(value, dict):
        name = dice.choice(
            [name for name, item in value.items() if not isinstance(item, dict) or item]
        )
        return value | {name: forged(value[name], dice)}
    if isinstance(value, list):
        place = dice.choice([n for n, item in enumerate(value) if not np.array_equal(item, [])])
        return [*value[:place], forged(value[place], dice), *value[place + 1 :]]
    array = np.array(value, dtype=float)
    place = dice.choice([at for at in np.ndindex(array.shape) if array[at] != 0])
    array[place] *= factor
    return array if array.ndim else float(array)


def rewritten(path: Path, changed: dict[str, bytes]) -> None:
    """Change members of an archive."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()} | changed
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
