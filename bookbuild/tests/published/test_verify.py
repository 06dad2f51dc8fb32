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

from bookbuild.costs import Spent
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.published import verify
from bookbuild.published.draw import WRONG, Draw, DrawnAgain, Report
from bookbuild.published.fetch import borrowing
from bookbuild.results.archive import MANIFEST, open_archive, write_archive
from bookbuild.results.contents import different
from bookbuild.results.store import Store
from bookbuild.results.values import to_files
from bookbuild.source.chapters import read_chapters, read_toc
from toy_book import LINE, SQUARE, Command, Toy

Change = Callable[[Any], Any]
Patch = pytest.MonkeyPatch


def packed(toy: Toy, folder: Path) -> Path:
    """The archive of a toy book, in a folder."""
    path = folder / "results.zip"
    write_archive(path, read_chapters(toy.root, read_toc(toy.root)), toy.settings())
    return path


@pytest.fixture
def published(toy: Toy, tmp_path: Path) -> Path:
    return packed(toy, tmp_path / "release")


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewritten(path: Path, contents: dict[str, bytes], **manifest: Any) -> None:
    """Write an archive of these members, with some fields of the manifest changed."""
    about = json.loads(contents[MANIFEST]) | manifest
    with zipfile.ZipFile(path, "w") as file:
        for name, content in (contents | {MANIFEST: json.dumps(about).encode()}).items():
            file.writestr(name, content)


def altered(path: Path, folder: str, change: Change) -> None:
    """Change the value in a folder of an archive, in all honesty of its form."""
    value = to_files(change(open_archive(path)._value(folder)))
    others = {name: x for name, x in members(path).items() if name.rpartition("/")[0] != folder}
    rewritten(path, others | {f"{folder}/{name}": content for name, content in value.items()})


def measure(key: str, value: Any) -> Change:
    """Replace a measure of a chapter."""
    return lambda numbers: numbers | {"measures": numbers["measures"] | {key: value}}


def figure(arrays: list[Any]) -> Change:
    """Replace the data of the figure."""
    return lambda numbers: numbers | {"figures": {"fig-square": arrays}}


def slopes(*values: float) -> Change:
    """Replace the result of the task, which no stream of random numbers comes with."""
    return lambda _: [[*values], []]


def task(path: Path) -> str:
    """The folder of the one task of the toy book."""
    (fingerprint,) = open_archive(path).results
    return f"results/{fingerprint}"


def verified(toy: Toy, path: Path, minutes: float = 5) -> Report:
    settings = toy.settings(profile="smoke", folder="_build")
    return verify.verify_archive(settings, open_archive(path), minutes, 1, toy.lines.append)


def outcome(toy: Toy, path: Path, name: str) -> DrawnAgain:
    (of_name,) = (x for x in verified(toy, path).outcomes if x.name == name)
    return of_name


def test_what_is_published_is_computed_again_and_equal(toy: Toy, published: Path) -> None:
    report = verified(toy, published)
    assert [outcome.grade for outcome in report.outcomes] == ["equal to the bit"] * 2
    assert (report.rows, report.measured) == (2, 2)
    assert report.draw.chance == report.least == 1
    assert report.seen == {"measures": 1.0, "figures": 1.0, "tasks": 1.0}
    assert not (toy.root / verify.SCRATCH).exists()


@pytest.mark.parametrize(
    ("chapter", "change", "said"),
    [
        (LINE, measure("slope", [2.5, 2.0, 2.0]), "measures slope: 2.5 as published, 2 here"),
        (SQUARE, figure([]), "figures fig-square"),
        (LINE, lambda _: [1.0], "measures slope: only here"),
        ("", slopes(2.0, 2.0, 2.0000001), "tasks "),
    ],
)
def test_an_altered_number_of_each_class_is_found_when_its_chapter_is_drawn(
    toy: Toy, published: Path, chapter: str, change: Change, said: str
) -> None:
    altered(published, f"chapters/{chapter}" if chapter else task(published), change)
    wrong = outcome(toy, published, chapter or LINE)
    assert wrong.grade == "differs"
    assert any(line.startswith(said) for line in wrong.said)


def test_a_declared_timing_may_differ_unless_the_ledger_judges_it(toy: Toy, tmp_path: Path) -> None:
    toy.append(SQUARE, "from time import time_ns\nreport(took=time_ns() % 1e9)")
    front = "---\nbookbuild: {timings: [took, square_of_three]}\njupytext:\n"
    toy.edit(f"book/{SQUARE}.md", "---\njupytext:\n", front)
    toy.edit("book/index.md", "# ", "It took {glue:text}`took:.0f` ns.\n\n# ")
    toy.build()
    path = packed(toy, tmp_path)
    assert {x.grade for x in verified(toy, path).outcomes} == {"equal to the bit"}
    altered(path, f"chapters/{SQUARE}", measure("square_of_three", 8.5))
    wrong = outcome(toy, path, SQUARE)
    assert wrong.grade == "differs"
    assert "measures square_of_three: 8.5 as published, 9 here" in wrong.said


@pytest.mark.parametrize(
    ("chapter", "change", "tolerance", "grade"),
    [
        (LINE, measure("slope", [2.001, 2.0, 2.0]), 0.01, "equal to 1%"),
        (LINE, measure("slope", [9.0, 2.0, 2.0]), 0.01, "differs"),
        (LINE, measure("slope", [9.0, 2.0, 2.0]), 10.0, "differs"),  # a verdict turns
        (SQUARE, figure([[0.0, 1.5], [0.0, 1.0]]), 0.01, "undecided"),
    ],
)
def test_elsewhere_a_number_may_be_apart_by_a_hundredth_and_a_verdict_may_not_turn(
    *, toy: Toy, published: Path, monkeypatch: Patch, chapter, change, tolerance, grade
) -> None:
    monkeypatch.setattr(verify, "machine_name", lambda: "another")
    monkeypatch.setattr(verify, "TOLERANCE", tolerance)
    altered(published, f"chapters/{chapter}", change)
    compared = outcome(toy, published, chapter)
    assert compared.grade == grade
    if grade == "differs":
        assert "partly as published, reproduced here" in compared.said[0]


@pytest.mark.usefixtures("without_site")
def test_a_build_takes_a_task_that_is_published_and_keeps_what_rests_on_it_apart(
    unbuilt: Toy, published: Path
) -> None:
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    lent = borrowing(unbuilt.settings(), published)
    unbuilt.build(published=lent.published, store=lent.store)
    assert unbuilt.entry(LINE, store=lent.store).measures["slope"]["value"] == [9.0, 9.0, 9.0]
    assert not unbuilt.settings().results.exists()
    unbuilt.build()
    assert unbuilt.entry(LINE).measures["slope"]["value"] == [2.0, 2.0, 2.0]


@pytest.mark.usefixtures("without_site")
def test_a_build_refuses_a_damaged_result_that_a_page_asks_for(
    unbuilt: Toy, published: Path
) -> None:
    forged = {f"{task(published)}/value.json": b'"<script>"'}
    rewritten(published, members(published) | forged)
    lent = borrowing(unbuilt.settings(), published)
    with pytest.raises(BookError, match=r"results\.zip is refused: a result is not the result"):
        unbuilt.build(published=lent.published, store=lent.store)


@pytest.mark.usefixtures("without_site")
def test_nothing_is_lent_to_a_chapter_that_is_left_out_of_an_archive(
    toy: Toy, published: Path
) -> None:
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    left = {n: x for n, x in members(published).items() if not n.startswith(f"chapters/{LINE}")}
    listed = json.loads(left[MANIFEST])["chapters"]
    hidden = listed.pop(LINE)["results"]
    rewritten(published, left, chapters=listed)
    with pytest.raises(BookError, match="not hold exactly the results that its manifest names"):
        open_archive(published)
    listed[SQUARE]["results"] = hidden
    rewritten(published, left, chapters=listed)
    lent = borrowing(toy.settings(), published)
    toy.build(published=lent.published, store=lent.store)
    assert toy.entry(LINE, store=lent.store).measures["slope"]["value"] == [2.0, 2.0, 2.0]
    said = outcome(toy, published, SQUARE).said[0]
    assert said.startswith(f"tasks {hidden[0]} ")
    assert said.endswith(": only as published")


def test_a_chapter_of_other_code_is_not_compared_and_this_is_said(
    toy: Toy, published: Path
) -> None:
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    report = verified(toy, published)
    assert (report.stale, report.least, report.draw.least) == ((LINE,), 0.0, 1.0)
    assert [outcome.name for outcome in report.outcomes] == [SQUARE]
    toy.edit("src/toy/square.py", "x * x", "x * x * 1")
    with pytest.raises(BookError, match=r"come from other code than this: check out the commit"):
        verified(toy, published)


@pytest.mark.usefixtures("without_site")
def test_a_build_from_an_archive_can_be_packed_again(
    unbuilt: Toy, published: Path, tmp_path: Path
) -> None:
    chapters = read_chapters(unbuilt.root, read_toc(unbuilt.root))
    with pytest.raises(BookError, match=f"Chapter {LINE} has not been executed: run python"):
        packed(unbuilt, tmp_path)
    settings = borrowing(unbuilt.settings(), published)
    unbuilt.build(published=settings.published, store=settings.store)
    again, first = write_archive(tmp_path / "x.zip", chapters, settings), open_archive(published)
    assert again.members == first.members
    assert not different(again.numbers(LINE), first.numbers(LINE), 0.0)
    with pytest.raises(BookError, match="holds the paper profile at first seed 0, not the paper"):
        borrowing(unbuilt.settings(seed=7), published)


def test_what_runs_when_time_is_up_is_not_verified_and_an_error(
    toy: Toy, tmp_path: Path, monkeypatch: Patch
) -> None:
    toy.append(LINE, "import time; time.sleep(8 if profile == 'paper' else 0)")
    toy.build()
    costs = {LINE: Spent(0.1, "timed"), SQUARE: Spent(1e6, "timed")}
    monkeypatch.setattr(verify, "chapter_costs", lambda *_: costs)
    report = verified(toy, packed(toy, tmp_path), minutes=0.1)
    assert [(x.name, x.grade) for x in report.outcomes] == [(LINE, "stopped")]
    assert report.draw.never == [SQUARE]
    assert report.draw.chance == report.draw.least == 0
    assert list(report.problems()) == [
        f"Not verified: the time was up while {LINE} was computed: give more MINUTES."
    ]
    report = Report((), False, Draw({"a": 1.0}, 0.0, 0), (), 1, 0, {})
    assert list(report.problems()) == ["No chapter was computed again: give more MINUTES."]


def test_nothing_that_an_archive_says_decides_how_it_is_checked(
    toy: Toy, published: Path, monkeypatch: Patch
) -> None:
    asked = []
    execute = verify.execute_chapters

    def executed(wanted: Any, settings: Any, display: Any) -> Any:
        asked.append((settings.threads_each, settings.published, Store(settings.results).listed()))
        return execute(wanted, settings, display)

    monkeypatch.setattr(verify, "execute_chapters", executed)
    rewritten(published, members(published), threads=64)
    assert open_archive(published).threads == 64
    assert list(verified(toy, published).problems()) == []
    assert asked == [(toy.settings().threads_each, None, [])] * 2


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
    assert "of 2 judged rows of the ledger, 2 were measured again" in printed
    assert printed.splitlines()[-1].startswith("verified:")
    altered(published, f"chapters/{LINE}", measure("slope", [9.0, 2.0, 2.0]))
    assert command(toy.root, *arguments).endswith("1 chapters differ from what was published.")
    assert "RESULTS must name" in command(toy.root, "verify", "--results", "", "--device", "cpu")


def test_a_forger_with_every_field_free_is_found_as_often_as_is_said(
    toy: Toy, published: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    chapters = {c.name: c for c in read_chapters(toy.root, read_toc(toy.root))}
    claims = read_claims(toy.root, list(chapters))
    honest, store = {name: toy.entry(name) for name in chapters}, Store(toy.settings().results)
    monkeypatch.setattr(verify, "execute_chapters", lambda wanted, *_: (honest, []))
    monkeypatch.setattr(verify, "Store", lambda _: store)
    monkeypatch.setattr(verify, "chapter_key", lambda chapter, _: honest[chapter.name].key)
    folders = {LINE: [f"chapters/{LINE}", task(published)], SQUARE: [f"chapters/{SQUARE}"]}
    original = members(published)
    dice, stated, caught = random.Random(0), 0.0, 0
    for number in range(1000):
        path = tmp_path / f"{number}.zip"
        rewritten(path, original)
        costs = {LINE: dice.choice([1.0, 30.0]), SQUARE: dice.choice([1.0, 30.0])}
        victim = max(costs, key=lambda name: (costs[name], name))  # what is drawn least often
        altered(path, dice.choice(folders[victim]), lambda value: forged(value, dice))
        output = {"machine": dice.choice(["a", "b"]), "threads": dice.choice([1, 2, 64])}
        if dice.random() < 0.8:  # another machine, for which less has to agree
            rewritten(path, members(path), commit="c", **output)
        archive = open_archive(path)
        check = verify.Recomputation(archive, chapters, claims, toy.settings(), math.inf)
        draw, left, wrong = Draw(costs, dice.choice([1.5, 31.0, 90.0]), number), 0.0, False
        while name := draw.next(draw.budget - left):
            wrong |= check(name).grade in WRONG
            left += costs[name]
            draw.took(name, costs[name])
        stated += draw.least * min(verify.shares_seen(archive, verify.TOLERANCE).values())
        caught += wrong
    assert caught >= stated
    assert 200 < stated < 900


def forged(value: Any, dice: random.Random) -> Any:
    """A result with one of its numbers changed by 2% or more."""
    factor = dice.choice([1.02, 0.97, -1.0, 3.0])
    if isinstance(value, dict):
        names = [name for name, item in value.items() if not isinstance(item, dict) or item]
        name = dice.choice(names)
        return value | {name: forged(value[name], dice)}
    if isinstance(value, list):
        place = dice.choice([n for n, item in enumerate(value) if not np.array_equal(item, [])])
        return [*value[:place], forged(value[place], dice), *value[place + 1 :]]
    array = np.array(value, dtype=float)
    place = dice.choice([at for at in np.ndindex(array.shape) if array[at] != 0])
    array[place] *= factor
    return array if array.ndim else float(array)
