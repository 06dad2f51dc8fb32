"""The record of a toy book: what is measured, what an edit outdates, and what it does not."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.processes import locked
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results import executed
from bookbuild.results.keys import chapter_key
from bookbuild.results.machine import machine_name
from evidence import runner
from evidence.__main__ import machine, record
from evidence.book import JudgedBook, of_this_machine
from evidence.outcomes import RECORD, read_outcomes
from evidence.runner import FOLDER, Execution, follow, measure, renew
from evidence.variations import Change, Variation
from tools.this_book import ROOT
from toy_book import LINE, SQUARE, Toy, new_toy

DECLARED = """
seeds: [100]
faults:
- fault: slip
  says: Two is three.
  sees: [paper/01_line]
  at: smoke
  in: src/toy/line.py
  right: return [2.0
  wrong: return [3.0
"""
STOP = """```{code-cell} ipython3
1 / (seed - 100)
```

```{code-cell} ipython3
from pathlib import Path
"""
CODE, PAGE, FORMULA = "src/toy/line.py", f"book/{LINE}.md", "2.0 * point / point"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy book that judges one chapter, with a cell that fails at the seed 100."""
    toy = new_toy(tmp_path_factory.mktemp("evidence") / "toy")
    (toy.root / "evidence").mkdir()
    for path in (ROOT / "evidence").glob("*.py"):
        (toy.root / "evidence" / path.name).symlink_to(path)
    (toy.root / "src/emergence").symlink_to(ROOT / "src/emergence")
    (toy.root / "bookbuild").symlink_to(ROOT / "bookbuild")
    (toy.root / "evidence/variations.yml").write_text(DECLARED, encoding="utf-8")
    claims = toy.root / "data/claims.yml"
    judged = claims.read_text(encoding="utf-8").partition("- id: square-of-three")[0]
    claims.write_text(judged, encoding="utf-8")
    toy.edit(PAGE, "```{code-cell} ipython3\nfrom pathlib import Path\n", STOP)
    toy.edit(PAGE, "line.slopes(points)", "[x + seed / 1e5 for x in line.slopes(points)]")
    return toy.root


@pytest.fixture(scope="module")
def renewed(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The book with its record made once, and what was told; for reading only."""
    root, output = copied(plain, tmp_path_factory.mktemp("renewed")), []
    renew(JudgedBook(root), output.append, seconds=1e9, jobs=2)
    return root, output


@pytest.fixture
def toy(renewed: tuple[Path, list[str]], tmp_path: Path) -> Toy:
    """A copy of the book with its record."""
    return Toy(copied(renewed[0], tmp_path))


def copied(root: Path, folder: Path) -> Path:
    shutil.copytree(root, folder / "toy", symlinks=True)
    return folder / "toy"


def test_a_fault_is_measured_and_figures_are_told_by_their_data(plain: Path) -> None:
    change = Change("src/toy/square.py", "x * x", "x + x")
    result = measure(plain, SQUARE, Variation("sum", "fault", profile="smoke", changes=(change,)))
    assert (result.values, [*result.arrays]) == ({"square_of_three": 6.0}, ["fig-square: x"])
    assert not result.errors
    with pytest.raises(BookError, match="to be changed 0 times"):
        measure(plain, LINE, Variation("no", "fault", changes=(Change("src/no.py", "x", "y"),)))
    with pytest.raises(BookError, match="it cannot be executed"):
        measure(plain, "paper/no", Variation("none", "seed"))


def test_the_record_has_a_line_for_each_variation(renewed: tuple[Path, list[str]]) -> None:
    root, output = renewed
    record, book = read_outcomes(root), JudgedBook(root)
    assert [*record.numbers] == [LINE]
    assert record.numbers[LINE].smoke == {"slope": [2.0, 2.0, 2.0]}
    seed, slip = (record.outcomes[LINE, name] for name in ("seed 100", "slip"))
    assert seed.values["slope"] == pytest.approx([2.001] * 3)  # below the cell that fails
    assert (seed.kind, seed.profile, slip.kind, slip.profile) == ("seed", "paper", "fault", "smoke")
    assert slip.values == {"slope": [3.0, 3.0, 3.0]}
    assert seed.fingerprint == slip.fingerprint == book.today[LINE]
    assert output[0] == f"{LINE}: nothing was recorded"
    assert any(line.startswith(f"{LINE}, seed 100:") and ", 1 errors" in line for line in output)


@pytest.mark.parametrize("name", ["point", "x"])
def test_a_second_time_and_after_a_rename_there_is_nothing_to_do(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    output, before = [], (toy.root / RECORD).read_bytes()
    toy.edit(CODE, f"{FORMULA} for point in", f"2.0 * {name} / {name} for {name} in")
    monkeypatch.setattr(runner, "measure", lambda *_: pytest.fail("it was executed"))
    book = JudgedBook(toy.root)
    assert book.trials() == []
    renew(book, output.append, seconds=1e9, jobs=1)
    assert (output, (toy.root / RECORD).read_bytes()) == ([], before)


HELPER = "def _one(x: float) -> float:\n    return 2.0 * x / x\n\n\ndef slopes"


@pytest.mark.parametrize(
    ("path", "old", "new", "told", "outdated"),
    [
        (CODE, f"[{FORMULA} for point in points]", "list(map(_one, points))", "they were", []),
        (CODE, FORMULA, "2.0 * point * point", "slope is another", ["seed 100", "slip"]),
        (PAGE, "seed / 1e5", "seed / 1e4", "in its code is another", ["seed 100", "slip"]),
    ],
)
def test_an_edit_outdates_what_it_may_have_changed(
    toy: Toy, path: str, old: str, new: str, told: str, outdated: list[str]
) -> None:
    before = read_outcomes(toy.root).numbers[LINE]
    toy.edit(path, old, new)
    if "_one" in new:
        toy.edit(CODE, "def slopes", HELPER)
    book, lines = JudgedBook(toy.root), []
    follow(book, lines.append, 1)
    assert [line.partition(": ")[0] for line in lines] == [LINE]
    assert told in lines[0]
    assert sorted(trial.variation.name for trial in book.trials()) == outdated
    after = read_outcomes(toy.root).numbers[LINE]
    kept = () if outdated else before.same
    assert after.same == (*kept, book.today[LINE])
    follow(book, lines.append, 1)
    assert len(lines) == 1


@pytest.mark.parametrize(("new", "outdated"), [("2.0", []), ("3.0", ["seed 100", "slip"])])
def test_a_build_shows_what_another_constant_changes(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, new: str, outdated: list[str]
) -> None:
    built = {"2.0": {"slope": "as before", "more": ""}, "3.0": {"slope": "otherwise"}}
    monkeypatch.setattr(
        JudgedBook, "built", lambda book, chapter: {"slope": "as before", "less": ""}
    )
    follow(JudgedBook(toy.root), print, 1)
    assert read_outcomes(toy.root).numbers[LINE].paper["slope"] == "as before"
    toy.edit(CODE, FORMULA, f"({new} if len(points) > 9 else 1.0 + 1.0) * point / point")
    monkeypatch.setattr(JudgedBook, "built", lambda book, chapter: built[new])
    book = JudgedBook(toy.root)
    follow(book, print, 1)
    assert sorted(trial.variation.name for trial in book.trials()) == outdated
    assert read_outcomes(toy.root).numbers[LINE].paper["slope"] == built[new]["slope"]


def test_on_another_machine_the_same_code_is_measured_again_and_outdates_nothing(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_outcomes(toy.root).numbers[LINE]
    monkeypatch.setattr(runner, "machine_name", lambda: "elsewhere")
    rounded = Execution({"slope": {"value": [2.0, 2.0, 2.0 + 1e-5]}}, (), 1.0, {})
    monkeypatch.setattr(runner, "measure", lambda *_: rounded)
    book = JudgedBook(toy.root)
    follow(book, print, 1)
    after = read_outcomes(toy.root).numbers[LINE]
    assert (after.machine, after.same) == ("elsewhere", before.same)
    assert after.bits["slope"] != before.bits["slope"]
    assert not book.trials()


def test_another_declaration_outdates_its_own_and_what_is_not_declared_goes(toy: Toy) -> None:
    toy.edit("evidence/variations.yml", "[100]", "[200]")
    toy.edit("evidence/variations.yml", "[3.0", "[4.0")
    book = JudgedBook(toy.root)
    assert sorted(trial.variation.name for trial in book.trials()) == ["seed 200", "slip"]
    book.keep()
    assert read_outcomes(toy.root).outcomes == {}


def fake(failing: str = "") -> Callable[..., Execution]:
    """What measures nothing; one variation fails."""

    def told(root: Path, chapter: str, variation: Variation) -> Execution:
        if variation.name == failing:
            raise BookError("it did not end within 1 s")
        measures = {"slope": {"value": [2.0]}, "other": {"value": 1.0}}
        return Execution(measures, (), 7.0, {})

    return told


def renewing(root: Path, **options: Any) -> tuple[list[str], list[str]]:
    """What renewing tells, and the variations that the record has afterwards."""
    output: list[str] = []
    renew(JudgedBook(root), output.append, **{"seconds": 1e9, "jobs": 1} | options)
    return output, [name for _, name in read_outcomes(root).outcomes]


def test_each_line_is_kept_at_once(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = copied(plain, tmp_path)
    monkeypatch.setattr(runner, "measure", fake("slip"))
    output, known = renewing(root)
    assert known == ["seed 100"]
    assert f"{LINE}, slip: it did not end within 1 s" in output
    assert read_outcomes(root).outcomes[LINE, "seed 100"].values == {"slope": [2.0]}
    monkeypatch.setattr(runner, "measure", fake())
    assert renewing(root) == ([f"{LINE}, slip: 7 s"], ["seed 100", "slip"])


def test_what_a_machine_has_executed_is_recorded(toy: Toy, tmp_path: Path) -> None:
    book, folder = JudgedBook(toy.root), tmp_path / "executed"
    with pytest.raises(BookError, match="No chapter has been executed on this machine"):
        of_this_machine(book, "cpu")
    folder.mkdir()
    (folder / MEASURES_FILE).write_text('{"slope": {"value": [2.5]}}', encoding="utf-8")
    origin = {"chapter": LINE, "profile": "paper", "commit": "abc", "seconds": 3.0}
    executed.store(book.settings, chapter_key(book.chapters[LINE], book.settings), origin, folder)
    book.keep(*of_this_machine(book, "cpu"))
    line = JudgedBook(toy.root).record.outcomes[LINE, f"machine {machine_name()}"]
    assert (line.kind, line.values, line.commit) == ("device", {"slope": [2.5]}, "abc")
    assert line.fingerprint == book.today[LINE]


def test_only_one_process_writes_the_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with locked(Path(FOLDER, "lock"), "first"):
        for command, given in ((record, (0, 1, None, None)), (machine, ("cpu",))):
            with pytest.raises(BookError, match="Another renewal of the evidence is running here"):
                command.callback(*given)
