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
from typing import Any, NamedTuple, get_type_hints

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


class Grid(NamedTuple):
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
    raise_if_any(
        f"{path}: the setting {name!r} is both fixed and varied; keep one of the two."
        for name in axes.keys() & fixed.keys()
    )
    count = math.prod(map(len, axes.values()))
    if count > MOST_RUNS:
        raise BookError(f"{path} asks for {count} runs, and at most {MOST_RUNS} are allowed.")
    function, kind = _declared(path, declared["function"])
    hints = get_type_hints(kind)
    given = fixed | ({"device": device} if "device" in hints else {})
    configurations = []
    for point in itertools.product(*axes.values()):
        checked = {}
        for name, value in (given | dict(zip(axes, point, strict=True))).items():
            if name not in hints:
                raise BookError(f"{path}: {kind.__name__} has no setting {name!r}.")
            try:
                checked[name] = made_again(hints[name], value)
            except TypeError:
                wanted = name_of(hints[name])
                told = f"{path}: {name!r} is of type {wanted}, not {value!r:.40}."
                raise BookError(told) from None
        try:
            configurations.append(kind(**checked))
        except (TypeError, ValueError) as error:
            raise BookError(f"{path}: {' '.join(str(error).split())}.") from error
    return Grid(function, configurations)


def _declared(path: Path, name: str) -> tuple[Callable[[Any], Any], type[Any]]:
    """Return the function with this dotted name, and the dataclass that it takes."""
    module, _, attribute = name.rpartition(".")
    try:
        function = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BookError(f"{path}: the function {name!r} does not exist.") from error
    try:
        hints = get_type_hints(function) if callable(function) else {}
    except (TypeError, NameError):  # it is no function, or its annotations cannot be read
        hints = {}
    kinds = [kind for name, kind in hints.items() if name != "return"]
    if len(kinds) != 1 or not (isinstance(kinds[0], type) and dataclasses.is_dataclass(kinds[0])):
        raise BookError(
            f"{path}: the function {function!r} must take one argument, a dataclass with its "
            "settings."
        )
    return function, kinds[0]


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
