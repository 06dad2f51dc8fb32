"""The book from an empty store: what is recorded, and that nothing stored is used."""

import json

from tools.records.cold_build import run_cold_build
from tools.toy_book import LINE, SQUARE, Toy


def run(toy: Toy, **changes: object) -> dict:
    path = run_cold_build(toy.settings(**changes), *toy.heard())
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_chapter_is_executed_whatever_is_stored(toy: Toy) -> None:
    before = sorted(toy.settings().results.iterdir())
    for _ in range(2):
        record = run(toy)
        assert toy.started() == {LINE, SQUARE}
    assert sorted(toy.settings().results.iterdir()) == before
    assert set(record["chapters"]) == {LINE, SQUARE}
    chapters = [chapter["seconds"] for chapter in record["chapters"].values()]
    assert max(chapters) <= record["seconds"] + 0.1
    assert record["verdicts"]["new"]["contradicted"] == 1
    assert record["jobs"] == 2


def test_a_part_alone(toy: Toy) -> None:
    record = run(toy, part="paper")
    assert list(record["chapters"]) == [LINE]
    assert record["part"] == "paper"
