"""What a book tells the builder about itself: the section `bookbuild` of its _config.yml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bookbuild.errors import raise_if_any
from bookbuild.schema import faults, load

CONFIG = "_config.yml"
SECTION = "bookbuild"
SCHEMA = Path(__file__).with_name("book.schema.json")


@dataclass(frozen=True)
class Measured:
    """How a file of data is measured anew.

    Attributes:
        command: writes the file, run in the root of the book; `python` is the build's own.
        minutes: that it took when it was last timed.
        requirements: a list of packages that it needs besides, by its path; none if empty.
        last: whether it executes chapters, so that stored runs have to be made before.
        guess: whether nobody has timed it, so that its minutes are a guess.
    """

    command: str
    minutes: float
    requirements: str = ""
    last: bool = False
    guess: bool = False


@dataclass(frozen=True)
class Book:
    """What the builder has to know about a book; `book.schema.json` describes each field.

    Attributes:
        package: the library of the book; names of its reference are linked from every page, and
            the ids in drawings are derived from its name.
        drawing: packages that only draw, and make no number.
        symbols: folders of the book whose formulas the glossary explains; all, if none is named.
        colab: distributions that the book needs and Colab lacks.
        stored_runs: the module that declares the runs in a file, by the path of the file.
        measured: how a file is measured anew, by the path of the file.
    """

    package: str = ""
    drawing: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    colab: tuple[str, ...] = ()
    stored_runs: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, Measured] = field(default_factory=dict)


def read_book(root: Path) -> Book:
    """Return what the configuration below a folder says; a book that says nothing has defaults.

    Raises:
        BookError: with a sentence for each fault of the section.
    """
    path = root / CONFIG
    told = (load(path, CONFIG) or {}).get(SECTION, {}) if path.is_file() else {}
    raise_if_any(f"{CONFIG}, section {SECTION}: {fault.clause}." for fault in faults(told, SCHEMA))
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in told.items()
    }
    measured = {file: Measured(**how) for file, how in fields.pop("measured", {}).items()}
    return Book(**fields, measured=measured)
