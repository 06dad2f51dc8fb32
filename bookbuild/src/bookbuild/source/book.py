"""What a book tells of itself: the section `bookbuild` of its _config.yml, and CITATION.cff."""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError, raise_if_any
from bookbuild.schema import faults, line_of, load, told

CONFIG = "_config.yml"
SECTION = "bookbuild"
CITATION = "CITATION.cff"
CITATION_SCHEMA = Path(__file__).with_name("citation.schema.json")
DEFAULTS = Path(__file__).with_name("defaults.yml")
ADDED = "extra_extensions"  # a list that a book adds to
SCHEMA = Path(__file__).with_name("book.schema.json")
CHAPTER = re.compile(r"([\w-]+)/(\d+)_\w+")


@dataclass(frozen=True)
class Book:
    """What the builder has to know about a book; `book.schema.json` describes each field."""

    package: str = ""
    running: str = ""
    drawing: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    cited: Mapping[str, str] = field(default_factory=dict)
    colab: tuple[str, ...] = ()
    stored_runs: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evidence: str = ""

    def runner(self, module: str) -> Any:
        """Return a module of the package for long computations; BookError where there is none."""
        if not self.running:
            raise BookError(
                f"{CONFIG}, section {SECTION}, names no package under `running`, which keeps the "
                "results of long computations."
            )
        return importlib.import_module(f"{self.running}.{module}")

    def chapter_number(self, page: str) -> tuple[str, ...]:
        """Return the parts of the number of a chapter that is cited by itself; else none."""
        match = CHAPTER.fullmatch(page)
        if match is None or match[1] not in self.cited:
            return ()
        return (*filter(None, [self.cited[match[1]]]), str(int(match[2])))


def read_config(root: Path) -> dict[str, Any]:
    """Return the configuration of Jupyter Book, `defaults.yml` where a book is silent."""
    given = load(root / CONFIG, CONFIG)
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise BookError(f"{CONFIG} is no mapping of fields.")
    return _merged(load(DEFAULTS, DEFAULTS.name), given)


def check_config(root: Path) -> None:
    """Raise BookError with a sentence for each fault of the configuration, our section aside."""
    from jupyter_book.config import get_validator  # with Sphinx, which takes a while

    given = {name: value for name, value in read_config(root).items() if name != SECTION}
    text = (root / CONFIG).read_text(encoding="utf-8")
    raise_if_any(
        f"{CONFIG}, line {line_of(text, error.absolute_path)}, field "
        f"{'.'.join(map(str, error.absolute_path))!r}: {error.message}."
        for error in get_validator().iter_errors(given)
    )


def _merged(default: Any, given: Any, name: str = "") -> Any:
    """Return fields that a book says, and the default for others."""
    if isinstance(default, dict) and isinstance(given, dict):
        names = default | given
        return {
            x: _merged(default.get(x), given[x], x) if x in given else default[x] for x in names
        }
    return [*default, *given] if name == ADDED and isinstance(given, list) and default else given


def read_book(root: Path) -> Book:
    """Return what the configuration below a folder says of the book; BookError for its faults."""
    path = root / CONFIG
    section = read_config(root).get(SECTION, {}) if path.is_file() else {}
    if flaws := faults(section, SCHEMA):
        flaws = [fault._replace(path=(SECTION, *fault.path)) for fault in flaws]
        raise BookError(*told(flaws, path.read_text(encoding="utf-8"), CONFIG))
    fields: dict[str, Any] = {n: tuple(x) if isinstance(x, list) else x for n, x in section.items()}
    return Book(**fields)


def read_citation(root: Path) -> dict[str, Any]:
    """Return what CITATION.cff says; raise BookError with a sentence for each fault of it."""
    cited: dict[str, Any] = load(root / CITATION, CITATION)
    if flaws := faults(cited, CITATION_SCHEMA):
        raise BookError(*told(flaws, (root / CITATION).read_text(encoding="utf-8"), CITATION))
    return cited


def names(cited: dict[str, Any]) -> list[str]:
    """Return the authors of the book as archives list them: people by family name first."""
    return [
        who["name"] if "name" in who else f"{who['family-names']}, {who['given-names']}"
        for who in cited["authors"]
    ]
