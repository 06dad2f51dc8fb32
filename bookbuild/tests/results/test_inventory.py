"""What pruning keeps, and what is told where nothing can be kept."""

import os

import pytest

from bookbuild.results.inventory import prune, unneeded
from tools.toy_book import LINE, SQUARE, Command, Toy


@pytest.mark.usefixtures("without_site")
def test_pruning_keeps_what_the_current_book_needs(toy: Toy, command: Command) -> None:
    toy.build(profile="smoke")  # of another profile, and needed as well
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    first, *others = unneeded(toy.settings())
    assert len(others) == 2  # the chapter in both profiles, and its task
    first.write_bytes(b"not a result")
    assert command(toy.root, "prune") == ""
    left = sorted(toy.settings().results.glob("*"))
    assert left == sorted(
        toy.settings().results / f"{toy.key(SQUARE, profile=profile)}.result"
        for profile in ("paper", "smoke")
    )
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
