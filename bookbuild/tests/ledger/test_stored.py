"""Records are read by their schemas; one that is not there is empty."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bookbuild.errors import BookError
from bookbuild.ledger import stored
from bookbuild.ledger.stored import PREREGISTRATION, read_record

SCHEMAS = sorted(Path(stored.__file__).parent.glob("*.schema.json"))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_sound(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_a_record_that_is_not_there_is_empty_and_one_that_is_no_json_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / PREREGISTRATION
    assert read_record(path) == {}
    path.parent.mkdir()
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BookError, match=r"^data/preregistration\.json cannot be read: "):
        read_record(path)
