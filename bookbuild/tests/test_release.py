"""A release has every part, and its description names each."""

import json
import zipfile
from pathlib import Path

import pytest

from bookbuild import release
from bookbuild.results.archive import open_archive
from toy_book import LINE, SQUARE, Toy


@pytest.fixture
def released(committed: Toy, without_site: None) -> Path:
    """The release of the toy book."""
    return release.write_release(committed.settings(), *committed.heard())


def test_a_release_has_every_part_and_names_it(released: Path) -> None:
    names = {path.name for path in released.iterdir()}
    assert names == {*release.PARTS, release.NOTEBOOKS, release.CRATE}
    with zipfile.ZipFile(released / release.SITE) as site:
        assert "site/index.html" in site.namelist()
    assert set(open_archive(released / release.RESULTS).chapters) == {LINE, SQUARE}
    entities = json.loads((released / release.CRATE).read_text(encoding="utf-8"))["@graph"]
    graph = {entity["@id"]: entity for entity in entities}
    for part in graph["./"]["hasPart"]:
        assert part["@id"] in graph
        assert part["@id"].startswith("https://") or (released / part["@id"]).is_file()
    actions = [entity for entity in graph.values() if entity["@type"] == "CreateAction"]
    notebooks = {f"notebooks/book/{name}.ipynb" for name in (LINE, SQUARE)}
    assert {action["result"]["@id"] for action in actions} == notebooks
    for action in actions:
        assert action["startTime"] <= action["endTime"]
        for reference in (action["result"], action["instrument"], *action["object"]):
            assert reference["@id"] in graph
