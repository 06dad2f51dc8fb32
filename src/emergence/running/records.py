"""Records of long runs: JSON files of a head and a line an entry, written after each entry.

A record is completed by a loop over `missing`, which ends with `write`. A run that is killed loses
the entry that it was at.
"""

import json
import math
import os
import platform
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch

Cell = TypeVar("Cell")


def text(path: Path, name: str) -> str:
    """A record's text; that of one without entries where there is no file.

    Args:
        path: of the file.
        name: of the list of entries in it, such as "runs".

    Raises:
        ValueError: for a file that holds no such list; it is left as it is.
    """
    if not path.is_file():
        return json.dumps({name: []})
    try:
        found = path.read_text(encoding="utf-8")
        whole = isinstance(json.loads(found)[name], list)
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged: expected JSON with a list {name!r}")
    return found


def missing(
    cells: Iterable[Cell],
    known: Container[Any],
    *,
    key: Callable[[Cell], Any] | None = None,
    seconds: float = math.inf,
) -> Iterator[Cell]:
    """The cells that a record lacks, in their order, to be computed with one thread.

    Args:
        cells: all that are declared.
        known: what is not computed again.
        key: of a cell, by which it is known; the cell itself by default.
        seconds: after which no further cell is begun.
    """
    torch.set_num_threads(1)  # more would add up in another order
    begun = time.monotonic()
    for cell in cells:
        if (key(cell) if key else cell) in known:
            continue
        if time.monotonic() - begun > seconds:
            return
        yield cell


def written(
    command: str,
    name: str,
    entries: Iterable[Mapping[str, Any]],
    *,
    indent: int | None = 1,
    **own: Any,
) -> str:
    """The text of a record: its provenance, and a line an entry.

    Args:
        command: that computes what the record lacks.
        name: of the list of entries.
        entries: in values of JSON.
        indent: of the head, or None for one line.
        own: what the head says besides.
    """
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    head = {"command": command, "versions": versions, "threads": 1, **own}
    opened = json.dumps(head, indent=indent).removesuffix("}").rstrip()
    lines = ",\n".join("  " + json.dumps(entry) for entry in entries)
    return f'{opened},\n "{name}": [\n{lines}\n ]\n}}\n'


def write(path: Path, content: str) -> None:
    """Put a record in the place of the one before; the file is whole at every moment."""
    partial = path.with_suffix(".partial")
    partial.write_text(content, encoding="utf-8")
    os.replace(partial, path)
