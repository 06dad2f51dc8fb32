"""Records are read by their schemas; one that is not there is empty."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bookbuild.errors import BookError
from bookbuild.ledger import stored
from bookbuild.ledger.stored import WITNESS, read_record

SCHEMAS = sorted(Path(stored.__file__).parent.glob("*.schema.json"))
SEEN = {"tried": 3, "refused": 2, "missed": [{"fault": "slip", "says": "no."}], "blind": ["law"]}


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_sound(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def written(root: Path, document: Any) -> Path:
    (root / WITNESS).parent.mkdir()
    (root / WITNESS).write_text(json.dumps(document), encoding="utf-8")
    return root / WITNESS


def test_what_the_witness_missed_is_read(tmp_path: Path) -> None:
    assert read_record(tmp_path / WITNESS) == {}
    assert read_record(written(tmp_path, SEEN)) == SEEN


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tried": -1}, "'tried' is not a number of faults: -1"),
        ({"refused": "two"}, "'refused' is not a number of faults"),
        ({"missed": [{"fault": "slip"}]}, "the field 'says' is missing"),
        ({"blind": "law"}, "'blind' is not a list"),
        ({"seen": 2}, "the field 'seen' is unknown"),
    ],
)
def test_a_malformed_one_is_refused(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(BookError, match=f"^data/witness.json: .*{reason}"):
        read_record(written(tmp_path, SEEN | change))


def test_a_record_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, {})
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BookError, match=r"^data/witness\.json cannot be read: "):
        read_record(path)
