"""The published schemas: sound, documented, and met by the files of this book."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bookbuild.ledger.claims import SCHEMA as CLAIMS
from bookbuild.schema import MESSAGE, faults, load
from bookbuild.source.book import SCHEMA as BOOK
from tools.this_book import ROOT

SCHEMAS = [CLAIMS, BOOK]
FILES = [(ROOT / "data/claims.yml", CLAIMS)]
NAMES = ("id", "kind", "expect", "within", "holds", "not_testable", "function", "grid", "fixed")
NAMES += ("package", "drawing", "symbols", "colab", "stored_runs", "measured")
texts = st.sampled_from(NAMES) | st.text(max_size=3)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.dates(),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(texts | st.integers(), one, max_size=4),
    max_leaves=8,
)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def described(schema: Any) -> Iterator[Any]:
    """Yield the subschemas that an editor shows: definitions and properties."""
    if isinstance(schema, dict):
        for key in ("$defs", "properties"):
            if "description" in schema:
                yield from schema.get(key, {}).values()
        for value in schema.values():
            yield from described(value)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_sound_and_its_examples_fit(path: Path) -> None:
    schema = read(path)
    Draft202012Validator.check_schema(schema)
    for example in schema["examples"]:
        assert not faults(example, path)
    for part in described(schema):
        assert part.keys() >= {"title", "description"} or part.keys() == {"$ref"}


@pytest.mark.parametrize(("path", "schema"), FILES, ids=lambda path: path.name)
def test_a_file_fits_its_schema_and_tells_editors_where_it_is(path: Path, schema: Path) -> None:
    assert not faults(load(path, path), schema)
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == schema


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
@given(document=documents | st.lists(documents))
def test_every_fault_has_a_short_clause(path: Path, document: Any) -> None:
    found = faults(document, path)
    assert bool(found) != Draft202012Validator(read(path)).is_valid(document)
    assert all(fault.clause.strip() and len(fault.clause) < 200 for fault in found)
    assert not any(MESSAGE in fault.clause for fault in found)
