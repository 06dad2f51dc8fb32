"""The book from an empty store: what is recorded, and that nothing stored is used."""

import json

from tools.cold_build import run_cold_build
from toy_book import LINE, SQUARE, Toy


def test_everything_is_executed_whatever_is_stored(toy: Toy) -> None:
    before = sorted(toy.settings().results.iterdir())
    path = run_cold_build(toy.settings(), *toy.heard())
    record = json.loads(path.read_text(encoding="utf-8"))
    assert toy.started() == set(record["chapters"]) == {LINE, SQUARE}
    assert sorted(toy.settings().results.iterdir()) == before
    assert 0 < record["chapters"][LINE]["seconds"] <= record["seconds"] + 0.1
    assert record["jobs"] == 2
