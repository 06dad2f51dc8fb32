"""Declared grids of runs, and their computation into the store."""

import dataclasses
import importlib
import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from bookbuild.errors import BookError, raise_if_any
from bookbuild.processes import sources_first
from bookbuild.results.cache import order_of
from bookbuild.results.snapshot import frozen, sources
from bookbuild.results.store import Store
from bookbuild.schema import faults, load
from bookbuild.settings import Settings
from running.records import made_again, name_of

from .execute import tidy
from .runs import File, file_of

SWEEPER = (sys.executable, "-m", "bookbuild.execution.sweeper")
SCHEMA = Path(__file__).with_name("grid.schema.json")
MOST_RUNS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Grid:
    """A function of the science and the configurations it is to be applied to."""

    function: Callable[[Any], Any]
    configurations: list[Any]


def read_grid(path: Path, device: str) -> Grid:
    """Return the grid a file declares; raise BookError with a sentence for each fault.

    The function takes one frozen dataclass. A field of it called device is set to the device.
    """
    declared = load(path, path)
    raise_if_any(f"{path}: {fault.clause}." for fault in faults(declared, SCHEMA))
    axes, fixed = declared["grid"], declared.get("fixed", {})
    function = _function(path, declared["function"])
    kind = _configuration_class(path, function)
    raise_if_any(
        f"{path}: the setting {name!r} is both fixed and varied; keep one of the two."
        for name in axes
        if name in fixed
    )
    count = math.prod(map(len, axes.values()))
    if count > MOST_RUNS:
        raise BookError(f"{path} asks for {count} runs, and at most {MOST_RUNS} are allowed.")
    known = {field.name for field in dataclasses.fields(kind)}
    given = fixed | ({"device": device} if "device" in known else {})
    points = itertools.product(*axes.values())
    return Grid(
        function,
        [_configured(path, kind, given | dict(zip(axes, p, strict=True))) for p in points],
    )


def _function(path: Path, name: str) -> Callable[[Any], Any]:
    """Return the function with this dotted name."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BookError(f"{path}: the function {name!r} does not exist.") from error


def _configuration_class(path: Path, function: Callable[[Any], Any]) -> type[Any]:
    """Return the dataclass that a function takes."""
    try:
        hints = get_type_hints(function) if callable(function) else {}
    except (TypeError, NameError):  # it is no function, or its annotations cannot be read
        hints = {}
    hints.pop("return", None)
    kinds = [kind for kind in hints.values() if isinstance(kind, type)]
    if len(hints) != 1 or not kinds or not dataclasses.is_dataclass(kinds[0]):
        raise BookError(
            f"{path}: the function {function!r} must take one argument, a dataclass with its "
            "settings."
        )
    return kinds[0]


def _configured(path: Path, kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Return a configuration; raise BookError for an unknown, missing or mistyped setting."""
    hints = get_type_hints(kind)
    checked = {}
    for name, value in values.items():
        if name not in hints:
            raise BookError(f"{path}: {kind.__name__} has no setting {name!r}.")
        try:
            checked[name] = made_again(hints[name], value)
        except TypeError:
            raise BookError(
                f"{path}: {name!r} is of type {name_of(hints[name])}, not {value!r:.40}."
            ) from None
    try:
        return kind(**checked)
    except (TypeError, ValueError) as error:
        raise BookError(f"{path}: {' '.join(str(error).split())}.") from error


def run_sweep(path: Path, settings: Settings, scheduler: str | None) -> None:
    """Compute what a file declares and the store lacks; raise BookError where that fails."""
    if not _swept({"grid": str(path), "name": path.stem}, settings, scheduler):
        raise BookError(
            "The sweep is not complete: run the command again to continue; what is finished is "
            "kept."
        )


def run_stored(
    name: str, settings: Settings, scheduler: str | None, minutes: int | None = None
) -> list[Any]:
    """Compute what a file of stored runs lacks, for so many minutes; return what is left.

    Raises BookError where that fails.
    """
    file, seconds = file_of(name, settings.root), None if minutes is None else 60.0 * minutes
    File(file, settings.root, sources(settings))  # a damaged one is told at once
    asked = {"root": str(settings.root), "name": name}
    if not _swept(asked, settings, scheduler, seconds):
        raise BookError(
            "The stored runs are not complete: run the command again to continue; what is "
            "finished is kept."
        )
    return File(file, settings.root, sources(settings)).lacking


def _swept(
    asked: Mapping[str, str],
    settings: Settings,
    scheduler: str | None,
    seconds: float | None = None,
) -> bool:
    """Compute in a process of its own, on sources that an edit cannot reach; end it in time.

    Returns whether nothing went wrong.
    """
    tidy(settings)
    Store(settings.results).check()
    with frozen(settings) as settings:
        order: dict[str, Any] = {
            **asked,
            "scheduler": scheduler,
            "jobs": settings.jobs,
            "cache": order_of(settings, {}),
        }
        process = subprocess.Popen(
            [*SWEEPER, json.dumps(order)],
            env=sources_first(sources(settings)),
        )
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return True
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
