"""What code depends on: the definitions that it reaches by name, across the modules of src.

A function depends on the functions, classes and constants that it names, on those that they name,
and so on; a class counts whole. What else lies in their modules does not count. That is sound where
importing a module only defines (`tests/book/test_modules.py`); statements of a module that do
more are counted for whoever imports it. A module that is passed around, read by `getattr` or
imported by `*` counts whole as well.

The digest of a definition holds its code and that of each definition it names, but not the module
they lie in: moving a function from one module to another changes nothing. Neither does another
name for a local variable or for what a module keeps to itself, a comment, a docstring or a type.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bookbuild.source.book import read_book

from .modules import CELLS, Definition, Module, Sources, together
from .names import ALL

# where a result is kept, and where it is computed, never changes it
KEEPING = ("running.cache", "running.executors", "running.progress", "running.sweep")
# What draws, and what passes a number on, never makes one; a book names packages of its own.
SHOWING = ("matplotlib", "bookbuild")
CELLS_PLACE = f"{CELLS}:{ALL}"
HARMLESS = {"__file__", "__name__", "__doc__"}

Path_ = tuple[str, ...]  # attributes, one after another


@dataclass(frozen=True)
class Reached:
    """What some code depends on.

    Attributes:
        digests: of each definition and of those it names, by where it lies, such as
            `science.tasks:sample`.
        constants: the numbers and texts in the code, each as often as it stands there.
        files: that lie beside the modules and may be read, such as a style sheet.
        packages: the outermost packages from elsewhere.
    """

    digests: Mapping[str, str]
    constants: Mapping[str, int]
    files: tuple[Path, ...]
    packages: tuple[str, ...]

    @property
    def code(self) -> str:
        """One digest of it all, whatever the modules and the versions of packages."""
        parts = sorted({*self.digests.values(), *map(sha256_of, self.files)})
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def reached_by_cells(cells: Iterable[str], src: Path, *, shown: bool = True) -> Reached:
    """Return what the cells of a chapter depend on besides themselves, as it is shown.

    Otherwise return what their numbers depend on, the cells among it.
    """
    sources = Sources(src, together(cells))
    closure = _Closure(sources, KEEPING if shown else _without_numbers(src), texts=shown)
    reached = closure.reached((CELLS, ALL))
    digests = {place: one for place, one in reached.digests.items() if place != CELLS_PLACE}
    return replace(reached, digests=digests) if shown else reached


def reached_by(names: Iterable[tuple[str, str]], src: Path) -> Reached:
    """Return what functions and classes depend on, each a module and a qualified name.

    Nothing of what draws or reports is followed. Where a module has no such name it counts whole.
    """
    sources = Sources(src)
    closure = _Closure(sources, _without_numbers(src))
    roots = [(name, *qualified.split(".")) for name, qualified in names]
    roots = [
        root if (module := sources.find(root[0])) and root[1] in module.bound else (root[0], ALL)
        for root in roots
    ]
    return closure.reached(*roots)


def _without_numbers(src: Path) -> tuple[str, ...]:
    """Return the packages that no number comes from, as the book beside src names them too."""
    return (*KEEPING, *SHOWING, *read_book(src.parent).drawing)


class _Closure:
    """References followed to the definitions behind them."""

    def __init__(self, sources: Sources, without: Collection[str], *, texts: bool = False) -> None:
        self.packages: set[str] = set()
        self._sources, self._without, self._texts = sources, tuple(without), texts
        self._imported: set[str] = set()
        self._waiting: list[tuple[str, str]] = []
        self._found: dict[str, dict[str, list[str]]] = {}
        self._shown = False

    def reached(self, *roots: Path_) -> Reached:
        """Return all that the roots depend on."""
        self._follow(roots)
        places = sorted(self._found)
        return Reached(
            {place: self._digest(place) for place in places},
            sum((self._defined(place)[1].constants for place in places), Counter()),
            self._resources(),
            tuple(sorted(self.packages)),
        )

    def _follow(self, roots: Iterable[Path_]) -> None:
        """Find the definitions that the roots reach, and what each of them names."""
        for name, *attributes in roots:
            self._behind(name, tuple(attributes))
        while self._waiting:
            name, defined = self._waiting.pop()
            place = f"{name}:{defined}"
            if place in self._found:
                continue
            module, definition = self._defined(place)
            self._shown |= definition.reads_sources
            packages = {*self.packages}
            _ = [self._used(module, definition, chain) for chain in definition.uses_as_types]
            self.packages = packages  # a type from elsewhere makes no number
            self._found[place] = {
                ".".join(chain): labels
                for chain in definition.uses
                if (labels := self._used(module, definition, chain))
            }

    def _resources(self) -> tuple[Path, ...]:
        """The files that lie beside the modules of what was found."""
        folders = {
            self._sources.folder.joinpath(*place.partition(":")[0].split("."))
            for place in self._found
        }
        folders = {folder if folder.is_dir() else folder.parent for folder in folders}
        return tuple(
            sorted(
                path
                for folder in folders - {self._sources.folder}
                if folder.is_dir()
                for path in folder.iterdir()
                if path.is_file() and path.suffix not in (".py", ".pyc")
            )
        )

    def _digest(self, place: str) -> str:
        """Return the digest of a definition: its code, and that of what it names."""
        _, own = self._defined(place)
        code = own.text if self._shown and self._texts else own.code
        chains = ((chain.partition("."), labels) for chain, labels in self._found[place].items())
        named = {own.aliases.get(name, name) + dot + rest: x for (name, dot, rest), x in chains}
        return hashlib.sha256(json.dumps([code, named], sort_keys=True).encode()).hexdigest()

    def _defined(self, place: str) -> tuple[Module, Definition]:
        """Return a module and what it defines under a name."""
        name, _, defined = place.partition(":")
        module = self._sources.find(name)
        assert module is not None
        return module, module.defined[defined]

    def _used(self, module: Module, definition: Definition, chain: Path_) -> list[str]:
        """Return what stands for what a definition reads by a chain of attributes."""
        name, *attributes = chain
        if name in definition.imports:
            return [
                label
                for target, *path in definition.imports[name]
                for label in self._behind(target, (*path, *attributes))
            ]
        return self._behind(module.name, chain) if name in module.bound else []

    def _behind(self, name: str, attributes: Path_) -> list[str]:
        """Note the definitions behind attributes of a module; return what stands for each."""
        if not self._follows(name, *attributes[:1]):
            return []
        outermost = name.partition(".")[0]
        if self._sources.find(outermost) is None:
            if outermost not in sys.stdlib_module_names:
                self.packages.add(outermost)
            return [".".join(part for part in (name, *attributes) if part != ALL)]
        module = self._import(name)
        if module is None or not attributes:
            return []  # the import will fail or has an alternative, or was all that was asked
        attribute, *rest = attributes
        if attribute == ALL:
            return self._whole(module)
        labels = []
        if attribute in module.defined:
            self._waiting.append((module.name, attribute))
            labels.append(module.defined[attribute].label(attribute))
        for target, *path in module.imports.get(attribute, ()):
            if (target, *path) != (name, attribute):  # a module of this package
                labels += self._behind(target, (*path, *rest))
        inner = f"{name}.{attribute}"
        if not labels and self._sources.find(inner):
            labels += self._behind(inner, tuple(rest))
        elif attribute.startswith("__") and attribute not in module.bound | HARMLESS:
            labels += self._whole(module)  # such as __dict__
        return labels

    def _whole(self, module: Module) -> list[str]:
        """Note everything that a module defines and imports; of a package, all of its modules."""
        if module.name == CELLS:
            self._waiting.append((CELLS, ALL))
            return []
        for name in sorted(module.bound):
            self._behind(module.name, (name, ALL) if name in module.imports else (name,))
        if module.folder:
            for path in sorted(module.folder.rglob("*.py")):
                inner = self._sources.name_of(path)
                if inner != module.name:
                    self._behind(inner, (ALL,))
        return [module.code]

    def _import(self, name: str) -> Module | None:
        """Return a module of src, once what its import executes is noted."""
        parts = name.split(".")
        module = None
        for length in range(1, len(parts) + 1):  # importing a.b.c executes a and a.b first
            module = self._sources.find(".".join(parts[:length]))
            if module is None:
                return None
            if module.name in self._imported:
                continue
            self._imported.add(module.name)
            if ALL in module.defined and module.name != CELLS:  # it does more than define
                self._waiting.append((module.name, ALL))
            for target, *path in module.loads:
                self._load(target, path)
        return module

    def _load(self, target: str, path: Sequence[str]) -> None:
        """Note what a statement of a module imports, which may be a module of a package."""
        if self._follows(target, *path) and self._import(target) and path and path[0] != ALL:
            self._import(f"{target}.{path[0]}")

    def _follows(self, *parts: str) -> bool:
        name = ".".join((*parts, ""))
        return not any(name.startswith(f"{room}.") for room in self._without)


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
