"""Validation of YAML and JSON files by JSON Schema, with one sentence for each fault."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from bookbuild.errors import BookError

MESSAGE = "errorMessage"  # in a schema: what a wrong value is or is not; editors show it as well
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # seven times as fast, where it is there
TYPES = {"object": "a mapping of fields", "array": "a list", "string": "a text"}


@dataclass(frozen=True)
class Fault:
    """What is wrong, as a clause, and where: rows and fields from the outside in."""

    path: tuple[int | str, ...]
    clause: str


def load(path: Path, name: object) -> Any:
    """Return the document in a YAML or JSON file; raise BookError, with its name, if unreadable."""
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else yaml.load(text, LOADER)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BookError(f"{name} cannot be read: {' '.join(str(error).split())}.") from error


def faults(document: Any, schema: Path, *, depth: int = 0) -> list[Fault]:
    """Return where a document departs from a schema, which may refer to others beside it.

    The clauses name a field by its path below `depth`, which is 1 where the document is a list of
    rows and the caller names the row.
    """
    found = (
        Fault(tuple(error.absolute_path), clause)
        for error in _validator(schema).iter_errors(document)
        for clause in _clauses(error, depth)
    )
    return list(dict.fromkeys(found))


@cache
def _validator(schema: Path) -> Draft202012Validator:
    files = schema.parent.glob("*.schema.json")
    beside = ((path.name, DRAFT202012.create_resource(load(path, path))) for path in files)
    return Draft202012Validator(load(schema, schema), registry=Registry().with_resources(beside))


def _clauses(error: ValidationError, depth: int) -> Iterator[str]:
    """Yield what is wrong at one place by one keyword of the schema."""
    rule, value = error.validator_value, error.instance
    if MESSAGE in error.schema:
        yield _about(error, depth, error.schema[MESSAGE])
    elif error.validator == "required":
        yield from (_missing(error, depth, name) for name in rule if name not in value)
    elif error.validator == "additionalProperties":
        unknown = (name for name in value if name not in error.schema["properties"])
        yield from (f"the field {name!r:.40} is unknown" for name in unknown)
    elif error.validator == "enum":
        yield _about(error, depth, f"is not one of {', '.join(rule)}")
    else:
        assert error.validator == "type", f"the schema lacks an {MESSAGE} for {error.validator}"
        yield _about(error, depth, f"is not {TYPES[rule]}")


def _missing(error: ValidationError, depth: int, name: str) -> str:
    return f"the field {_path([*error.absolute_path, name][depth:])!r} is missing"


def _path(names: Sequence[int | str]) -> str:
    """Return a path of fields and rows as texts have it."""
    path = "".join(f".{name}" if isinstance(name, str) else f"[{name}]" for name in names)
    return path.removeprefix(".")


def _about(error: ValidationError, depth: int, message: str) -> str:
    """Return a clause about a field or the whole, with the value where that helps."""
    names = list(error.absolute_path)[depth:]
    subject = f"the field {_path(names)!r}" if names else "it"
    telling = error.validator != "not" and not isinstance(error.instance, dict)
    return f"{subject} {message}{f': {error.instance!r:.40}' if telling else ''}"
