"""Published results: what they are taken for, and what is found when they are altered."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bookbuild.costs import Spent
from bookbuild.errors import BookError
from bookbuild.published import verify
from bookbuild.published.fetch import borrowing
from bookbuild.published.verify import Row, summary
from bookbuild.results.archive import MANIFEST, open_archive, write_archive
from bookbuild.results.store import Store
from bookbuild.results.values import from_files, to_files
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
    about = json.dumps(json.loads(contents[MANIFEST]) | manifest, indent=1)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in (contents | {MANIFEST: about.encode()}).items():
            file.writestr(name, content)


def altered(path: Path, folder: str, change: Change) -> None:
    """Change the value in a folder of an archive, in all honesty of its form."""
    value = to_files(change(from_files(open_archive(path).files(folder))))
    others = {name: x for name, x in members(path).items() if name.rpartition("/")[0] != folder}
    rewritten(path, others | {f"{folder}/{name}": content for name, content in value.items()})


def measure(key: str, value: Any) -> Change:
    """Replace a measure of a chapter."""
    return lambda numbers: numbers | {"measures": numbers["measures"] | {key: value}}


def slopes(*values: float) -> Change:
    """Replace the result of the task, which no stream of random numbers comes with."""
    return lambda _: [[*values], []]


def task(path: Path) -> str:
    """The folder of the one task of the toy book."""
    (fingerprint,) = open_archive(path).results
    return f"results/{fingerprint}"


def verified(toy: Toy, path: Path, *names: str, minutes: float = 5) -> dict[str, Row]:
    settings = toy.settings(profile="smoke", folder="_build")
    toy.lines.clear()
    rows = verify.verify_archive(settings, open_archive(path), toy.lines.append, names, minutes)
    return {row.chapter: row for row in rows}


def test_what_is_published_is_computed_again_and_equal(toy: Toy, published: Path) -> None:
    rows = verified(toy, published)
    assert {name: (row.grade, row.numbers) for name, row in rows.items()} == {
        LINE: ("equal", 6),
        SQUARE: ("equal", 5),
    }
    assert summary(rows.values()) == "2 of 2 chapters recomputed: equal. 0 not recomputed."
    assert toy.lines[0] == verify.HEAD
    assert {" ".join(line.split()) for line in toy.lines[1:]} == {
        f"{LINE} 0 paper 6 equal",
        f"{SQUARE} 0 paper 5 equal",
    }
    assert not (toy.root / verify.SCRATCH).exists()


@pytest.mark.parametrize(
    ("chapter", "change", "grade", "said"),
    [
        (SQUARE, measure("square_of_three", 8.0), "differs", "measures square_of_three: 8 as pub"),
        (SQUARE, measure("square_of_three", 9.001), "agrees", ""),
        (SQUARE, lambda numbers: numbers | {"figures": {}}, "differs", "figures fig-square"),
        ("", slopes(2.0, 2.0, 2.5), "differs", "1: 2.5 as published, 2 here"),
        ("", lambda _: [[2.0, 2.0, 2], []], "differs", "1 3: int  () as published, float  () here"),
    ],
)
def test_an_altered_number_is_found_when_its_chapter_is_recomputed(
    toy: Toy, published: Path, chapter: str, change: Change, grade: str, said: str
) -> None:
    altered(published, f"chapters/{chapter}" if chapter else task(published), change)
    row = verified(toy, published, chapter or LINE)[chapter or LINE]
    assert (row.grade, bool(row.said)) == (grade, bool(said))
    assert said in "".join(row.said)


def test_a_declared_timing_is_neither_published_nor_compared(toy: Toy, tmp_path: Path) -> None:
    toy.append(SQUARE, "from time import time_ns\nreport(took=time_ns() % 1e9)")
    toy.edit(
        f"book/{SQUARE}.md", "---\njupytext:\n", "---\nbookbuild: {timings: [took]}\njupytext:\n"
    )
    toy.edit("book/index.md", "# ", "It took {glue:text}`took:.0f` ns.\n\n# ")
    toy.build()
    assert verified(toy, packed(toy, tmp_path), SQUARE)[SQUARE].grade == "equal"


@pytest.mark.usefixtures("without_site")
def test_a_build_takes_the_bytes_of_a_task_and_keeps_what_rests_on_them_apart(
    unbuilt: Toy, published: Path
) -> None:
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    lent = borrowing(unbuilt.settings(), published)
    unbuilt.build(published=lent.published, store=lent.store)
    entry, store = unbuilt.entry(LINE, store=lent.store), Store(lent.results)
    assert entry.measures["slope"]["value"] == [9.0, 9.0, 9.0]
    ((key,),) = entry.origin["asked"].values()
    stored, _ = store.get(key)
    assert stored is not None
    assert stored.files == open_archive(published).files(task(published))
    assert not unbuilt.settings().results.exists()
    unbuilt.build()
    assert unbuilt.entry(LINE).measures["slope"]["value"] == [2.0, 2.0, 2.0]
    forged = {f"{task(published)}/value.json": b'"<script>"'}
    rewritten(published, members(published) | forged)
    lent = borrowing(unbuilt.settings(), published)
    with pytest.raises(BookError, match=r"results\.zip is refused: its results/"):
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
    row = verified(toy, published, SQUARE)[SQUARE]
    assert row.said == [f"results/{hidden[0]} only as published"]


def test_of_a_chapter_of_other_code_only_what_it_would_be_lent_is_compared(
    toy: Toy, published: Path
) -> None:
    toy.append(LINE, "points = points[:2]")  # measures nothing, and is other code
    toy.append(SQUARE, "x = 1")
    rows = verified(toy, published)
    assert (rows[LINE].grade, rows[LINE].numbers) == ("equal", 3)
    assert rows[LINE].part.startswith("of other code")
    assert (rows[SQUARE].grade, rows[SQUARE].part) == ("not recomputed", "it is of other code")
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    assert verified(toy, published, LINE)[LINE].grade == "differs"
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")  # now it is lent nothing
    assert verified(toy, published, LINE)[LINE].grade == "not recomputed"


def test_a_chapter_that_takes_too_long_is_recomputed_in_one_of_its_results(
    toy: Toy, published: Path, monkeypatch: Patch
) -> None:
    costs = {LINE: Spent(1e6, "timed"), SQUARE: Spent(1e6, "timed")}
    monkeypatch.setattr(verify, "chapter_costs", lambda *_: costs)
    rows = verified(toy, published)
    assert (rows[LINE].grade, rows[LINE].part) == ("equal", "one of its 1 results recomputed")
    assert rows[SQUARE].part == "it takes longer than there was time"
    altered(published, task(published), slopes(9.0, 9.0, 9.0))
    assert verified(toy, published)[LINE].grade == "differs"


@pytest.mark.usefixtures("without_site")
def test_a_build_from_an_archive_can_be_packed_again(
    unbuilt: Toy, published: Path, tmp_path: Path
) -> None:
    with pytest.raises(BookError, match=f"Chapter {LINE} has not been executed: run make repro"):
        packed(unbuilt, tmp_path)
    chapters = read_chapters(unbuilt.root, read_toc(unbuilt.root))
    settings = borrowing(unbuilt.settings(), published)
    unbuilt.build(published=settings.published, store=settings.store)
    write_archive(tmp_path / "x.zip", chapters, settings)
    assert members(tmp_path / "x.zip") == members(published)
    with pytest.raises(BookError, match="holds the paper profile at first seed 0, not the paper"):
        borrowing(unbuilt.settings(seed=7), published)


def test_what_runs_when_time_is_up_is_not_recomputed(
    toy: Toy, tmp_path: Path, monkeypatch: Patch
) -> None:
    toy.append(LINE, "import time; time.sleep(8 if profile == 'paper' else 0)")
    toy.build()
    monkeypatch.setattr(verify, "chapter_costs", lambda *_: {LINE: Spent(0.1, "timed")})
    monkeypatch.setattr(verify.random, "sample", lambda *_: [LINE])
    rows = verified(toy, packed(toy, tmp_path), minutes=0.1)
    assert rows[LINE].part == "the time was up while it was computed"
    assert summary(rows.values()) == "0 of 2 chapters recomputed. 2 not recomputed."


def test_the_command_tells_what_was_recomputed(
    toy: Toy, published: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("verify", "--device", "cpu", "--results", str(published), "--chapter", LINE)
    assert command(toy.root, *arguments) == ""
    printed = capsys.readouterr().out
    assert "not recomputed, not named" in printed
    assert printed.splitlines()[-1] == "1 of 2 chapters recomputed: equal. 1 not recomputed."
    altered(published, f"chapters/{LINE}", measure("slope", [9.0, 2.0, 2.0]))
    assert (
        command(toy.root, *arguments) == "1 of 2 chapters recomputed: different. 1 not recomputed."
    )
    assert "no published chapter" in command(toy.root, *arguments[:-1], "paper/99_lost")
    assert "RESULTS must name" in command(toy.root, "verify", "--results", "", "--device", "cpu")
