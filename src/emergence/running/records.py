"""Stored runs: results of long computations in a file of data/, a line each, with their origin."""

import dataclasses
import json
import math
import types
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from .cache import plain

__all__ = ["Entry", "StoredRuns"]  # the rest is for who writes the files


class Entry(NamedTuple):
    """A stored result of this book, and what made it; None for what nobody wrote down.

    Attributes:
        configuration: the argument of the declared function.
        code: digest of the function and of all that it reaches.
        commit: of the code.
        machine: system and processor.
        versions: of Python and of packages, by name.
        seconds: of one core.
        date: when it was computed.
        result: in values of JSON.
    """

    configuration: Any
    code: str | None
    commit: str | None
    machine: str | None
    versions: dict[str, str]
    seconds: float | None
    date: str | None
    result: Any


@dataclasses.dataclass(frozen=True)
class StoredRuns:
    """Runs of this book that are stored in a file of `data`.

    Attributes:
        function: the run, of one frozen configuration; its result is in values of JSON, rounded.
        cells: the configurations, in the order in which they are computed.
        tables: what the function takes besides, by name: a file, and what reads its text.
        packages: whose versions are written down.
        together: computes many configurations at once on a GPU; yields each with its result, which
            differs by rounding from that of the function.
    """

    function: Callable[..., Any]
    cells: tuple[Any, ...]
    tables: Mapping[str, tuple[str, Callable[[str], Any]]] = dataclasses.field(default_factory=dict)
    packages: tuple[str, ...] = ("torch",)
    together: Callable[..., Iterable[tuple[Any, Any]]] | None = None

    def bound(self, root: Path) -> Callable[[Any], Any]:
        """The function of a configuration alone; its tables are read from the folder `root`."""
        tables = {
            name: read((root / file).read_text(encoding="utf-8"))
            for name, (file, read) in self.tables.items()
        }
        return partial(self.function, **tables) if tables else self.function

    def read(self, text: str) -> dict[Any, Any]:
        """The results of a file by configuration; ValueError as of `entries`."""
        return {entry.configuration: entry.result for entry in self.entries(text)}

    def entries(self, text: str) -> list[Entry]:
        """The entries of a file; ValueError as of the function `entries`."""
        return entries(text, next(iter(get_type_hints(self.function).values())))


def entries(text: str, hint: Any) -> list[Entry]:
    """The entries of a file, with configurations of type `hint`; ValueError for other files."""
    name = name_of(hint)
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the stored runs of {name} are damaged: no JSON") from error
    try:
        raw = [Entry(**given) for given in rows]
        whole = [made_again(hint, entry.configuration) for entry in raw]
        if len(set(whole)) < len(whole):
            raise TypeError("a configuration is there twice")
    except (TypeError, ValueError) as error:
        raise ValueError(f"these are no stored runs of {name}: {error}") from error
    return [e._replace(configuration=each) for e, each in zip(raw, whole, strict=True)]


def seeds_of(configuration: Any) -> set[int]:
    """The seeds of a configuration: `seed`, `seeds`, or `n_seeds` from `first_seed` on."""
    fields = vars(configuration)
    seeds = {*fields.get("seeds", ()), *([fields["seed"]] if "seed" in fields else [])}
    if "n_seeds" in fields:
        seeds |= {fields["first_seed"] + i for i in range(fields["n_seeds"])}
    parts = (part for part in fields.values() if dataclasses.is_dataclass(part))
    return seeds.union(*map(seeds_of, parts))


def written(entries: Iterable[Entry]) -> str:
    """The text of a file, one line per entry."""
    lines = (
        json.dumps(
            entry._asdict() | {"configuration": finite(plain(entry.configuration))}, allow_nan=False
        )
        for entry in entries
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def made_again(hint: Any, value: Any) -> Any:
    """What `cache.plain` took apart, by the hint of its type; TypeError for what is unlike it."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for kind in kinds:
        fits, value_again = _as(kind, value)
        if fits:
            return value_again
    raise TypeError(f"{value!r:.60} is not of type {name_of(hint)}")


def name_of(hint: Any) -> str:
    """A type as a message names it."""
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def _as(kind: Any, value: Any) -> tuple[bool, Any]:
    """Whether a plain value is of a kind, and what it stands for."""
    if isinstance(value, dict) and "" in value:
        if not dataclasses.is_dataclass(kind) or getattr(kind, "__qualname__", "") != value[""]:
            return False, None
        hints = get_type_hints(kind)
        given = {name: part for name, part in value.items() if name}
        names = {field.name for field in dataclasses.fields(kind)}
        if names != set(given):
            odd = ", ".join(sorted(names ^ set(given)))
            raise TypeError(f"{value['']} has other settings: {odd}")
        build: Any = kind
        return True, build(**{name: made_again(hints[name], part) for name, part in given.items()})
    if get_origin(kind) is tuple and isinstance(value, list):
        inner = get_args(kind)
        each = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(each) != len(value):
            return False, None
        return True, tuple(
            made_again(kind_of, item) for kind_of, item in zip(each, value, strict=True)
        )
    if get_origin(kind) is Literal:
        return value in get_args(kind), value
    # JSON has whole numbers and no infinity
    if kind is float and (type(value) is int or value in ("inf", "-inf")):
        return True, float(value)
    return type(value) is kind, value


def finite(value: Any) -> Any:
    """Plain values with texts for what JSON has no number for."""
    if isinstance(value, Mapping):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value
