"""The published schemas: sound and documented."""

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
from bookbuild.source.chapters import SCHEMA as CHAPTER

SCHEMAS = [CLAIMS, BOOK, CHAPTER]
NAMES = ("id", "kind", "expect", "within", "holds", "not_testable", "function", "grid", "fixed")
NAMES += ("package", "drawing", "symbols", "colab", "stored_runs", "measured", "data", "minutes")
texts = st.sampled_from(NAMES) | st.text(max_size=3)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.dates(),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(texts | st.integers(), one, max_size=4),
    max_leaves=8,
)


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
    schema = load(path, path)
    Draft202012Validator.check_schema(schema)
    assert not any(faults(example, path) for example in schema["examples"])
    for part in described(schema):
        assert part.keys() >= {"title", "description"} or part.keys() == {"$ref"}


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
@given(document=documents | st.lists(documents))
def test_every_fault_has_a_short_clause(path: Path, document: Any) -> None:
    clauses = [fault.clause for fault in faults(document, path)]
    assert bool(clauses) != Draft202012Validator(load(path, path)).is_valid(document)
    assert all(x.strip() and len(x) < 200 and MESSAGE not in x for x in clauses)
