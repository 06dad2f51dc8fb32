"""The records in data/ and their reader; the schema of each is beside this module."""

from pathlib import Path
from typing import Any

from bookbuild.errors import raise_if_any
from bookbuild.schema import faults, load

PREREGISTRATION = Path("data/preregistration.json")


def read_record(path: Path) -> dict[str, Any]:
    """Return a record, empty where there is none; raise BookError, a sentence for each fault."""
    if not path.is_file():
        return {}
    name = f"{path.parent.name}/{path.name}"
    document = load(path, name)
    schema = Path(__file__).with_name(f"{path.stem}.schema.json")
    raise_if_any(f"{name}: {fault.clause}." for fault in faults(document, schema))
    return document
