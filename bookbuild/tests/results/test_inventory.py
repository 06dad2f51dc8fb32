"""What is listed, and what pruning keeps."""

import os
import shutil
from pathlib import Path

import pytest

from bookbuild.results.inventory import list_results, prune, readable_age
from tools.toy_book import LINE, SQUARE, Command, Toy

TASK = "toy.line.slopes"


def states(toy: Toy) -> dict[str, str]:
    return {item.name: item.state for item in list_results(toy.settings())}


def test_results_are_listed_with_age_size_key_and_state(
    toy: Toy, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert states(toy) == dict.fromkeys((LINE, SQUARE, TASK), "current")
    items = list_results(toy.settings())
    assert all(item.size == item.path.stat().st_size for item in items)
    assert command(toy.root, "results") == ""
    listed = "".join(capsys.readouterr().out.split())
    assert all(item.key[:8] in listed for item in items)


@pytest.mark.usefixtures("without_site")
def test_pruning_keeps_what_the_current_book_needs(toy: Toy, command: Command) -> None:
    toy.build(profile="smoke")  # of another profile, and needed as well
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    assert states(toy) == {LINE: "outdated", TASK: "outdated", SQUARE: "current"}
    damaged = next(item for item in list_results(toy.settings()) if item.state == "outdated")
    damaged.path.write_bytes(b"not a result")
    assert command(toy.root, "prune") == ""
    left = list_results(toy.settings())
    assert [(item.name, item.state) for item in left] == [(SQUARE, "current")] * 2
    toy.build()
    assert toy.started() == {LINE}
    assert prune(toy.settings()) == []


def test_a_folder_that_cannot_be_written_is_told_in_one_sentence(
    toy: Toy, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    with monkeypatch.context() as patch:
        patch.setattr("bookbuild.results.store.write_whole", read_only)
        told = command(toy.root, "build", "--device", "cpu")
    assert told.startswith("No result can be kept in ")
    assert told.endswith(": read-only file system.")
    monkeypatch.setattr(os, "mkdir", read_only)
    told = command(toy.root, "build", "--device", "cpu")
    assert "Nothing can be written here" in told
    assert "\n" not in told


def test_ages_are_readable() -> None:
    assert [readable_age(seconds) for seconds in (-1, 5, 400, 7200, 10**6)] == [
        "0 s", "5 s", "7 min", "2 h", "12 days",
    ]  # fmt: skip


def test_the_inventory_of_an_empty_book_is_empty(toy: Toy) -> None:
    shutil.rmtree(toy.root / "_build")
    assert list_results(toy.settings()) == []
    assert not Path(toy.root, "_build", "results").exists()


def test_an_empty_store_says_so(
    unbuilt: Toy, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(unbuilt.root, "results") == ""
    assert capsys.readouterr().out == "Nothing is stored yet.\n"
