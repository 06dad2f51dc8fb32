"""Published results: used where the code is the same, and wrong ones found."""

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bookbuild.cli import published as commands
from bookbuild.errors import BookError
from bookbuild.published import fetch
from bookbuild.published import verify as module
from bookbuild.published.draw import Draw, chance, some
from bookbuild.results import archive as archives
from bookbuild.results.archive import Archive, Item, open_archive, write_archive
from bookbuild.results.contents import different
from bookbuild.results.keys import task_key
from bookbuild.results.store import SUFFIX, Store
from bookbuild.results.values import to_files
from bookbuild.source.chapters import read_chapters, read_toc
from tools.toy_book import LINE, Command, Toy


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


def altered(path: Path, chapter: str, old: bytes, new: bytes) -> None:
    """Forge a chapter's measures: sealed again, and named by the manifest."""
    archive = open_archive(path)
    (item,) = (item for item in archive.of_kind("chapter") if item.name == chapter)
    stored = archive.stored(item)
    files = {name: content.replace(old, new) for name, content in stored.files.items()}
    assert files != stored.files
    store = Store(path.parent / "forged")
    store.put(item.key, stored.kind, stored.name, stored.origin, files)
    forged = store.path(item.key).read_bytes()
    digest = archives.hashlib.sha256(forged).hexdigest()

    def change(name: str, content: bytes) -> bytes:
        if name == f"{item.key}{SUFFIX}":
            return forged
        return content.replace(item.sha256.encode(), digest.encode())

    rewritten(path, change)


def verified(toy: Toy, path: Path, minutes: float = 5, seed: int = 1) -> module.Report:
    toy.lines.clear()
    settings = toy.settings(profile="smoke", folder="_build")
    return module.verify(settings, open_archive(path), minutes, seed, toy.lines.append)


def test_what_is_published_is_computed_again_and_equal(toy: Toy, published: Path) -> None:
    report = verified(toy, published)
    assert [outcome.grade for outcome in report.outcomes] == ["equal to the bit"] * 2
    assert report.sound
    assert (report.rows, report.covered) == (2, 2)
    assert not (toy.root / module.SCRATCH).exists()


def test_a_forged_measure_is_found_when_it_is_drawn(toy: Toy, published: Path) -> None:
    altered(published, LINE, b"2.0,", b"2.5,")
    report = verified(toy, published)
    assert report.damaged == ()
    (wrong,) = (outcome for outcome in report.outcomes if outcome.grade == "differs")
    assert wrong.item.name == LINE
    assert "measure slope: 2.5 as published, 2 here" in wrong.said
    assert not report.sound


def test_elsewhere_a_forged_measure_is_found_by_its_verdict(
    toy: Toy, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "machine", lambda: "another")
    altered(published, LINE, b"2.0,", b"2.001,")
    (close,) = (x for x in verified(toy, published).outcomes if x.item.name == LINE)
    assert close.grade == "equal to 1%"
    altered(published, LINE, b"2.001,", b"9.0,")
    (wrong,) = (x for x in verified(toy, published).outcomes if x.item.name == LINE)
    assert wrong.grade == "differs"
    assert "partly as published, reproduced here" in wrong.said[0]


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


def test_a_training_is_computed_again(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = {"module": "toy.line", "function": "slopes", "configuration": {"configuration": 1}}
    key = task_key(task, "cpu", toy.root / "src")
    origin = {"task": task, "device": "cpu", "machine": "M"}
    files = to_files(np.array([1.0, 2.0]))
    Store(toy.settings().results).put(key, "sweep", "toy.line.slopes", origin, files)
    path = packed(toy, tmp_path / archives.NAME)
    assert [item.key for item in open_archive(path).of_kind("sweep")] == [key]

    def graded(again: list[float]) -> str:
        monkeypatch.setattr(module, "train_again", lambda *_, **__: to_files(np.array(again)))
        (found,) = (x for x in verified(toy, path).outcomes if x.item.kind == "sweep")
        return found.grade

    assert graded([1.0, 2.0]) == "equal to the bit"
    assert graded([1.0, 2.001]) == "equal to 1%"
    assert graded([1.0, 2.1]) == "apart elsewhere"
    monkeypatch.setattr(module, "machine", lambda: "M")
    assert graded([1.0, 2.0]) == "equal to the bit"
    assert graded([1.0, 2.001]) == "differs"

    def late(*_: object, seconds: float) -> None:
        assert 1 <= seconds <= 300
        raise TimeoutError

    monkeypatch.setattr(module, "train_again", late)
    report = verified(toy, path)
    assert {outcome.item.kind for outcome in report.outcomes} == {"chapter"}
    assert any(line.endswith(": given up, out of time") for line in toy.lines)
    assert open_archive(path).lend_trainings(toy.settings(folder="other")) == 1


def test_other_code_is_not_compared(toy: Toy, published: Path) -> None:
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    report = verified(toy, published)
    assert [item.name for item in report.stale] == [LINE]
    assert LINE not in {outcome.item.name for outcome in report.outcomes}
    toy.edit("src/toy/square.py", "x * x", "x * x * 1")
    with pytest.raises(BookError, match=r"are of other code than lies here: check out the commit"):
        verified(toy, published)


@pytest.mark.usefixtures("without_site")
def test_a_build_takes_what_is_published_and_executes_the_rest(
    unbuilt: Toy, published: Path
) -> None:
    result = unbuilt.build(published=published)
    assert (result.told.executed, result.told.cached) == (0, 2)
    unbuilt.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    assert unbuilt.build(published=published).told.executed == 1
    assert f"not as published, and executed here: {LINE}" in unbuilt.lines
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
        (None, "no archive of results"),
        ({}, "the field 'profile' is missing"),
        ({"profile": "", "device": "cpu", "seed": 0, "items": [{"key": "../x"}]}, "is no key"),
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


def test_an_archive_is_found_in_a_folder_and_at_an_address(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    assert fetch.locate(str(published.parent), tmp_path, told.append) == published
    with pytest.raises(BookError, match="RESULTS names a file, a folder with"):
        fetch.locate("nowhere", tmp_path, told.append)
    monkeypatch.setattr(fetch.urllib.request, "urlopen", lambda *_, **__: published.open("rb"))
    address = "https://example.org/results.zip"
    found = fetch.locate(address, tmp_path / "got", told.append)
    assert found.read_bytes() == published.read_bytes()
    assert fetch.locate(address, tmp_path / "got", told.append) == found
    assert told == [f"fetching {address}"]


def test_the_command_tells_what_was_drawn(
    toy: Toy, published: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("verify", "--device", "cpu", "--results", str(published), "--draw", "3")
    assert command(toy.root, *arguments) == ""
    printed = capsys.readouterr().out
    assert "drawn with DRAW=3: 2 of 2 results; 2 equal to the bit" in printed
    assert "of 2 judged rows of the ledger, 2 were measured again" in printed
    assert printed.splitlines()[-1].startswith("verified:")
    altered(published, LINE, b"2.0,", b"9.0,")
    assert command(toy.root, *arguments).endswith("Not verified: 0 damaged, 1 that differ.")
    assert "RESULTS names" in command(toy.root, "verify", "--results", "", "--device", "cpu")
    assert "MINUTES is" in command(toy.root, *arguments, "--minutes", "soon")


def items(count: int, seconds: float | None = None) -> list[Item]:
    made = {} if seconds is None else {"seconds": seconds}
    return [Item(f"{n:032x}", "sweep", "train", "e", "0", made) for n in range(count)]


def test_the_stated_chance_is_the_frequency_of_what_is_found() -> None:
    wanted, forged, hits, trials = 12, some(60), 0, 2000
    dice = random.Random(0)
    for trial in range(trials):
        draw = Draw(items(60, 1.0), trial)
        drawn = [draw.next(1.0) for _ in range(wanted)]
        hits += any(item in drawn for item in dice.sample(items(60, 1.0), forged))
    assert hits / trials == pytest.approx(chance(60, wanted, forged), abs=0.03)
    assert chance(20, 20, 1) == 1
    assert chance(20, 0, 1) == 0


def test_a_draw_learns_how_slow_this_machine_is() -> None:
    draw = Draw(items(3, 10.0), 0)
    first = draw.next(10.0)
    assert first is not None
    draw.took(first, 30.0)
    assert draw.next(29.0) is None
    assert draw.next(30.0) is not None
    unknown = Draw(items(2), 0)
    assert unknown.seconds(items(1)[0]) == 60.0


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
    (sentence,) = commands._wrong(module.Report((), (), tuple(items(1)), (), 1, 0))
    assert "nothing was computed again" in sentence


def test_an_archive_names_each_of_its_files(published: Path) -> None:
    archive: Archive = open_archive(published)
    with zipfile.ZipFile(published) as file:
        assert set(file.namelist()) == {
            archives.MANIFEST,
            *(f"{item.key}{SUFFIX}" for item in archive.items),
        }
