"""The published schemas: sound, with examples that fit."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bookbuild.ledger.claims import SCHEMA as CLAIMS
from bookbuild.schema import faults, load
from bookbuild.source.book import SCHEMA as BOOK
from bookbuild.source.chapters import FRONT_SCHEMA
from bookbuild.source.chapters import SCHEMA as CHAPTER

SCHEMAS = [CLAIMS, BOOK, CHAPTER, FRONT_SCHEMA]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_sound_and_its_examples_fit(path: Path) -> None:
    schema = load(path, path)
    Draft202012Validator.check_schema(schema)
    assert not any(faults(example, path) for example in schema["examples"])
