"""Validation of YAML and JSON files by JSON Schema, with one sentence for each fault."""

import json
from collections.abc import Iterable, Iterator, Sequence
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
FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # seven times as fast, where it is there
TYPES = {"object": "a mapping of fields", "array": "a list", "string": "a text"}


class Loader(FAST):  # type: ignore[misc,valid-type]
    """A loader that refuses a field twice and a value within itself; a date is a text."""

    deep_construct = True  # what is within itself is met while it is made

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the fields of a mapping; raise ConstructorError for a name that stands twice."""
        places: dict[str, Any] = {}
        for key, _ in node.value:
            if places.setdefault(key.value, key) is not key:
                first = places[key.value].start_mark.line + 1
                raise yaml.constructor.ConstructorError(
                    problem=f"the field {key.value!r} stands on line {first} already",
                    problem_mark=key.start_mark,
                )
        return dict(super().construct_mapping(node, deep=True))


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in those if not tag.endswith(":timestamp")]
    for first, those in FAST.yaml_implicit_resolvers.items()
}


class Fault(NamedTuple):
    """What is wrong, as a clause, and where: rows and fields from the outside in."""

    path: tuple[int | str, ...]
    clause: str


def load(path: Path, name: object) -> Any:
    """Return the document in a YAML or JSON file; raise BookError, with its name, if unreadable."""
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else parsed(text, name)
    except (OSError, ValueError) as error:
        raise BookError(f"{name} cannot be read: {' '.join(str(error).split())}.") from error


def parsed(text: str, name: object) -> Any:
    """Return the document in a text of YAML.

    Raises BookError with the line for what is no YAML, a field that stands twice, and a value
    within itself.
    """
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        flow = (getattr(error, "context", None) or "").startswith("while parsing a flow")
        mark = getattr(error, "context_mark" if flow else "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        said = getattr(error, "problem", None) or "it cannot be read"
        raise BookError(f"{name}{line}: {' '.join(str(said).split())}.") from error


def line_of(text: str, path: Sequence[int | str]) -> int:
    """Return the line on which a row or field of a text of YAML stands, or what it is in."""
    node, line = yaml.compose(text, FAST), 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == str(step)]
        else:
            pairs = [(x, x) for x in node.value[int(step) : int(step) + 1]]
        if not pairs or isinstance(node, yaml.ScalarNode):
            break
        key, node = pairs[0]
        line = key.start_mark.line + 1
    return line


def told(flaws: Iterable[Fault], text: str, name: object) -> list[str]:
    """Return a sentence for each fault of a text of YAML, with its line."""
    return [f"{name}, line {line_of(text, x.path)}: {x.clause}." for x in flaws]


def faults(document: Any, schema: Path, *, depth: int = 0, most: int | None = None) -> list[Fault]:
    """Return where a document departs from a schema, which may refer to others beside it.

    The clauses name a field by its path below `depth`, which is 1 where the document is a list of
    rows and the caller names the row. With `most`, no more than the first ones are looked for.
    """
    flaws = (
        Fault((*error.absolute_path, *field), clause)
        for error in _validator(schema).iter_errors(document)
        for field, clause in _clauses(error, depth)
    )
    return list(dict.fromkeys(islice(flaws, most)))


@cache
def _validator(schema: Path) -> Draft202012Validator:
    files = schema.parent.glob("*.schema.json")
    beside = ((path.name, DRAFT202012.create_resource(load(path, path))) for path in files)
    return Draft202012Validator(load(schema, schema), registry=Registry().with_resources(beside))


def _clauses(error: ValidationError, depth: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong at one place by one keyword of the schema, and at which field of it."""
    rule, value, path = error.validator_value, error.instance, [*error.absolute_path][depth:]
    message = error.schema.get(MESSAGE)
    if error.validator == "required" and not message:
        lacking = (_named([*path, x]) for x in rule if x not in value)
        yield from (((), f"the field {name!r} is missing") for name in lacking)
    elif error.validator == "additionalProperties" and not message:
        unknown = (name for name in value if name not in error.schema["properties"])
        yield from (((str(x),), f"the field {x!r:.40} is unknown") for x in unknown)
    else:
        expected = (
            f"one of {', '.join(rule)}" if error.validator == "enum" else TYPES.get(str(rule))
        )
        message = message or f"is not {expected}"
        subject = f"the field {_named(path)!r}" if path else "it"
        telling = error.validator != "not" and not isinstance(value, dict)
        yield (), f"{subject} {message}{f': {value!r:.40}' if telling else ''}"


def _named(path: Sequence[int | str]) -> str:
    """Return a path of fields and rows as texts have it."""
    names = "".join(f".{name}" if isinstance(name, str) else f"[{name}]" for name in path)
    return names.removeprefix(".")
