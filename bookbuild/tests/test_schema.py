"""The published schemas: sound and documented."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bookbuild.ledger.claims import SCHEMA as CLAIMS
from bookbuild.schema import faults, load
from bookbuild.source.book import SCHEMA as BOOK
from bookbuild.source.chapters import SCHEMA as CHAPTER

SCHEMAS = [CLAIMS, BOOK, CHAPTER]


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
