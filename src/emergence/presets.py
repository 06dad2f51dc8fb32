"""Presets: the settings of an experiment and its number of seeds, with checks of all changes."""

import contextlib
import math
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Profile = Literal["smoke", "paper"]
PROFILES: tuple[str, ...] = get_args(Profile)


@dataclass(frozen=True)
class Preset:
    """The settings of an experiment of this book, and how many seeds are run with them.

    Args:
        settings: a frozen dataclass.
        n_seeds: the number of seeds, at least five wherever a curve or a time is judged.
    """

    settings: Any
    n_seeds: int = 5  # the least that shows a spread wherever a curve or a time is judged

    def seeds(self, first: int = 0) -> tuple[int, ...]:
        """The seeds, counted from `first`; ValueError if it is negative."""
        if first < 0:
            raise ValueError(f"a seed must not be negative, got {first}")
        return tuple(range(first, first + self.n_seeds))


def preset(*, paper: Any, smoke: Any) -> dict[str, Preset]:
    """The settings of an experiment in both profiles of this book.

    Args:
        paper: the sizes of the paper, run with five seeds.
        smoke: sizes that take seconds, run with two.

    Returns:
        A preset by the name of its profile.
    """
    return {"paper": Preset(paper), "smoke": Preset(smoke, 2)}


def choose(
    preset: Mapping[str, Preset], profile: str, changes: Mapping[str, Any] | None = None
) -> Preset:
    """The preset of a profile; a chapter reads only here in which profile it runs.

    Args:
        preset: the presets by profile, as from `presets.preset`.
        profile: `smoke` or `paper`.
        changes: other values by name: for `n_seeds`, and for every setting of that name, at any
            depth of dataclasses, tuples and mappings. A list stands for a tuple, as in YAML, and
            snapshots keep their places in a training whose `steps` are changed.

    Returns:
        The preset of this profile, with these changes.

    Raises:
        ValueError: if the profile or a name is unknown, if a value has another type than the
            setting or is out of its range, or if the settings do not fit together.

    Example:
        >>> both = presets.preset(paper=training.TokenTraining(), smoke=training.TokenTraining(16))
        >>> presets.choose(both, "smoke", {"n_pairs": 4}).settings.n_pairs
        4
    """
    if profile not in PROFILES:
        raise ValueError(f"profile must be one of {PROFILES}, got {profile!r}")
    if not changes:
        return preset[profile]
    if not isinstance(changes, Mapping):
        raise ValueError(f"changes are values by name, such as {{'n_pairs': 20}}, not {changes!r}")
    chosen = preset[profile]
    names = {"n_seeds"} | _names(chosen.settings)
    for name in changes:
        if name not in names:
            there = ", ".join(sorted(names))
            raise ValueError(f"no setting is called {name!r}; there are {there}")
    n_seeds = _checked("n_seeds", changes.get("n_seeds", chosen.n_seeds), int)
    return Preset(_changed(chosen.settings, changes), n_seeds)


def check(settings: Any) -> None:
    """Check each setting of a dataclass by its type and its name; trainings call it (this book).

    Args:
        settings: a dataclass.

    Raises:
        ValueError: with one sentence, for a value of another type, or out of the range of its name.
    """
    for name, (value, kind) in _parts(settings).items():
        _checked(name, value, kind)


def told_changes(changes: Mapping[str, Any] | None) -> str:
    """What the top of a page says of settings that were changed (this book).

    Args:
        changes: the changes, as for `presets.choose`.

    Returns:
        One sentence, which ends with a point; empty if nothing is changed.
    """
    if not changes:
        return ""
    return f"Settings were changed, so nothing on this page is judged: {_told(changes)}."


def _told(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in changes.items())


def _parts(settings: Any) -> dict[str, tuple[Any, Any]]:
    """The values of a dataclass, a named tuple or a mapping and their types, by name."""
    if isinstance(settings, Mapping):
        return {name: (value, _kind(value)) for name, value in settings.items()}
    hints = get_type_hints(type(settings))
    named = [f.name for f in fields(settings)] if is_dataclass(settings) else settings._fields
    return {name: (getattr(settings, name), hints[name]) for name in named}


def _is_nested(value: Any) -> bool:
    """Whether a value holds settings with names of their own."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(name, str) for name in value)
    if is_dataclass(value) or hasattr(value, "_fields"):
        return not isinstance(value, type)
    return isinstance(value, tuple | list) and any(map(_is_nested, value))


def _names(settings: Any) -> set[str]:
    if not _is_nested(settings):
        return set()
    if isinstance(settings, list) or type(settings) is tuple:
        return set().union(*map(_names, settings))
    parts = _parts(settings).items()
    return set().union(*(_names(old) if _is_nested(old) else {name} for name, (old, _) in parts))


def _changed(settings: Any, changes: Mapping[str, Any]) -> Any:
    """The settings with every field of these names changed; ValueError as `choose` says."""
    if not _is_nested(settings):
        return settings
    if isinstance(settings, list) or type(settings) is tuple:
        return type(settings)(_changed(part, changes) for part in settings)
    parts, new = _parts(settings), {}
    for name, (old, kind) in parts.items():
        if _is_nested(old):
            new[name] = _changed(old, changes)
        elif name in changes:
            new[name] = _checked(name, changes[name], kind)
    if "steps" in new and "snapshots" in parts and "snapshots" not in changes:
        before, _ = parts["steps"]
        new["snapshots"] = tuple(at * new["steps"] // before for at in parts["snapshots"][0])
    if isinstance(settings, Mapping):
        return {**settings, **new}
    if hasattr(settings, "_replace"):
        return settings._replace(**new)
    try:
        return replace(settings, **new)
    except ValueError as error:
        raise ValueError(f"with {_told(changes)} the settings do not fit: {error}") from error


#: The least number that a setting of a name may have, wherever it stands, and what is above zero.
#: Without them a wrong number would be trained with, and nobody told.
LEAST = {
    **dict.fromkeys(("n_pairs", "dim", "batch_size", "steps", "record_every", "copies"), 1),
    **dict.fromkeys(("n_seeds", "larger_seeds", "largest_seeds", "turns", "level"), 1),
    **dict.fromkeys(("vocabulary", "block_size", "length"), 1),
    **dict.fromkeys(("weight_decay", "initial_scale", "embedding_scale"), 0),
}
ABOVE_ZERO = ("learning_rate",)


def _checked(name: str, value: Any, kind: Any) -> Any:
    """A value of a setting, as the setting's type has it; ValueError otherwise."""
    try:
        read = _read(value, kind)
    except TypeError:
        raise ValueError(f"the setting {name} should be {_called(kind)}, not {value!r}") from None
    if isinstance(read, int | float):
        if name in LEAST and read < LEAST[name]:
            raise ValueError(f"the setting {name} should be at least {LEAST[name]}, not {value!r}")
        if name in ABOVE_ZERO and read <= 0:
            raise ValueError(f"the setting {name} should be greater than 0, not {value!r}")
    return read


def _read(value: Any, kind: Any) -> Any:
    """A value as a type has it, with floats for whole numbers and tuples for lists; TypeError."""
    origin, inner = get_origin(kind), get_args(kind)
    plain = origin or kind
    if origin in (Union, types.UnionType):
        for each in sorted(inner, key=lambda one: one is float):  # a whole number may stay one
            with contextlib.suppress(TypeError):
                return _read(value, each)
    elif origin is Literal:
        if any(type(value) is type(one) and value == one for one in inner):
            return value
    elif kind is float:
        if _is_number(value, Real) and math.isfinite(value):
            return float(value)
    elif origin is tuple and isinstance(value, tuple | list):
        each = inner[:1] * len(value) if inner[1:] == (...,) else inner
        if len(each) == len(value):
            return tuple(map(_read, value, each))
    elif kind in (tuple, list) and isinstance(value, tuple | list):
        return kind(value)
    elif kind is int:
        if _is_number(value, Integral):
            return int(value)
    elif kind is Any or (isinstance(plain, type) and isinstance(value, plain)):
        return value
    raise TypeError


def _is_number(value: Any, kind: type) -> bool:
    """Whether a value is a number of a kind, among them those of NumPy; True is none."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _kind(value: Any) -> Any:
    """The type of a setting of a mapping, which says nothing of types: that of its value."""
    if isinstance(value, tuple) and len({type(part) for part in value}) == 1:
        return tuple[_kind(value[0]), ...]  # type: ignore[misc]
    return Any if value is None else type(value)


def _called(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(repr(one) for one in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_called, inner))
    if origin is tuple:
        if inner[1:] == (...,):
            return f"a list, each {_called(inner[0])}"
        return f"a list of {len(inner)}: {', '.join(map(_called, inner))}"
    words = {int: "a whole number", float: "a finite number", bool: "True or False", str: "a text",
             list: "a list", tuple: "a list", types.NoneType: "None"}  # fmt: skip
    return words.get(kind) or f"of type {getattr(kind, '__name__', kind)}"
