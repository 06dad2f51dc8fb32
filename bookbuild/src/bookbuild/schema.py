"""Validation of YAML and JSON files by JSON Schema, with one sentence for each fault."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from bookbuild.errors import BookError

MESSAGE = "errorMessage"  # in a schema: what a wrong value is or is not; editors show it as well
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # seven times as fast, where it is there
TYPES = {"object": "a mapping of fields", "array": "a list", "string": "a text"}


class Fault(NamedTuple):
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


def faults(
    document: Any, schema: Path, *, depth: int = 0, most: int | None = None
) -> list[Fault]:
    """Return where a document departs from a schema, which may refer to others beside it.

    The clauses name a field by its path below `depth`, which is 1 where the document is a list of
    rows and the caller names the row. With `most`, no more than the first ones are looked for.
    """
    flaws = (
        Fault(tuple(error.absolute_path), clause)
        for error in _validator(schema).iter_errors(document)
        for clause in _clauses(error, depth)
    )
    return list(dict.fromkeys(islice(flaws, most)))


@cache
def _validator(schema: Path) -> Draft202012Validator:
    files = schema.parent.glob("*.schema.json")
    beside = ((path.name, DRAFT202012.create_resource(load(path, path))) for path in files)
    return Draft202012Validator(load(schema, schema), registry=Registry().with_resources(beside))


def _clauses(error: ValidationError, depth: int) -> Iterator[str]:
    """Yield what is wrong at one place by one keyword of the schema."""
    rule, value, path = error.validator_value, error.instance, [*error.absolute_path][depth:]
    message = error.schema.get(MESSAGE)
    if error.validator == "required" and not message:
        yield from (f"the field {_named([*path, x])!r} is missing" for x in rule if x not in value)
    elif error.validator == "additionalProperties" and not message:
        unknown = (name for name in value if name not in error.schema["properties"])
        yield from (f"the field {name!r:.40} is unknown" for name in unknown)
    else:
        expected = (
            f"one of {', '.join(rule)}" if error.validator == "enum" else TYPES.get(str(rule))
        )
        message = message or f"is not {expected}"
        subject = f"the field {_named(path)!r}" if path else "it"
        telling = error.validator != "not" and not isinstance(value, dict)
        yield f"{subject} {message}{f': {value!r:.40}' if telling else ''}"


def _named(path: Sequence[int | str]) -> str:
    """Return a path of fields and rows as texts have it."""
    names = "".join(f".{name}" if isinstance(name, str) else f"[{name}]" for name in path)
    return names.removeprefix(".")
