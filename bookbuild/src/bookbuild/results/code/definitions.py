"""What code depends on: the definitions that it reaches by name, across the modules of src.

A function depends on the functions, classes and constants that it names, on those that they name,
and so on; a class counts whole. What else lies in their modules does not count. That is sound where
importing a module only defines (`tests/book/test_modules.py`); statements of a module that do
more are counted for whoever imports it. A module that is passed around, read by `getattr` or
imported by `*` counts whole as well.

The digest of a definition holds its code and that of each definition it names, but not the module
they lie in: moving a function from one module to another changes nothing. Neither does another
name for a local variable or for what a module keeps to itself, a comment, a docstring or a type. A
chapter that prints sources names them among the data that it reads.
"""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bookbuild.source.book import read_book

from .modules import CELLS, Definition, Module, Sources, together
from .names import ALL, Chain

HARMLESS = {"__file__", "__name__", "__doc__"}
# where a result is kept, and where it is computed, never changes it
KEEPING = ("cache", "executors", "memo", "progress", "sweep")  # of the package `running`
# What draws, and what passes a number on, never makes one; a book names packages of its own.
SHOWING = ("matplotlib", "bookbuild")
CELLS_PLACE = f"{CELLS}:{ALL}"

Label = tuple[str, str]  # what stands for a definition where it is read, and where that lies


@dataclass(frozen=True)
class Dependencies:
    """What some code depends on."""

    digests: Mapping[
        str, str
    ]  # of definitions and what they name, by place: `science.tasks:sample`
    constants: Mapping[tuple[str, ...], int]  # how often numbers and texts of a statement occur
    files: tuple[Path, ...]  # that lie beside the modules and may be read, such as a style sheet
    packages: tuple[str, ...]  # the outermost ones from elsewhere

    @property
    def code(self) -> str:
        """One digest of it all, whatever the modules and the versions of packages."""
        parts = sorted({*self.digests.values(), *map(sha256_of, self.files)})
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def reached_by_cells(cells: Iterable[str], src: Path, *, shown: bool = True) -> Dependencies:
    """Return what the cells of a chapter depend on besides themselves, as it is shown.

    Otherwise return what their numbers depend on, the cells among it.
    """
    sources = Sources(src, together(tuple(cells)))
    closure = _Closure(sources, _keeping(src) if shown else _without_numbers(src))
    reached = closure.reached([(CELLS, ALL)])
    digests = {place: digest for place, digest in reached.digests.items() if place != CELLS_PLACE}
    return replace(reached, digests=digests) if shown else reached


def reached_by(names: Iterable[tuple[str, str]], src: Path) -> Dependencies:
    """Return what functions and classes depend on, each a module and a qualified name.

    Nothing of what draws or reports is followed. Where a module has no such name it counts whole.
    """
    sources = Sources(src)
    roots = [(name, *qualified.split(".")) for name, qualified in names]
    return _Closure(sources, _without_numbers(src)).reached(
        root if (module := sources.find(root[0])) and root[1] in module.bound else (root[0], ALL)
        for root in roots
    )


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _without_numbers(src: Path) -> tuple[str, ...]:
    """Return the packages that no number comes from, as the book beside src names them too."""
    return (*_keeping(src), *SHOWING, *read_book(src.parent).drawing)


def _keeping(src: Path) -> tuple[str, ...]:
    """Return the modules that keep results, of a book that has such."""
    package = read_book(src.parent).running
    return tuple(f"{package}.{name}" for name in KEEPING) if package else ()


class _Closure:
    """References followed from definitions to those behind them."""

    def __init__(self, sources: Sources, without: Collection[str]) -> None:
        self._sources, self._without = sources, without
        self._packages: set[str] = set()
        self._imported: set[str] = set()
        self._waiting: list[tuple[Module, str]] = []
        self._definitions: dict[str, Definition] = {}  # by place
        self._named: dict[str, dict[str, list[Label]]] = {}  # what each names, by its chain

    def reached(self, roots: Iterable[Chain]) -> Dependencies:
        """Return all that the roots depend on."""
        for name, *attributes in roots:
            self._behind(name, tuple(attributes))
        while self._waiting:
            module, name = self._waiting.pop()
            place = f"{module.name}:{name}"
            if place in self._named:
                continue
            definition = self._definitions[place] = module.defined[name]
            packages = {*self._packages}
            for chain in definition.uses_as_types:
                self._used(module, definition, chain)
            self._packages = packages  # a type from elsewhere makes no number
            used = ((chain, self._used(module, definition, chain)) for chain in definition.uses)
            self._named[place] = {".".join(chain): labels for chain, labels in used if labels}
        return Dependencies(
            self._digests(sorted(self._named)),
            sum((each.constants for each in self._definitions.values()), Counter()),
            self._resources(),
            tuple(sorted(self._packages)),
        )

    def _resources(self) -> tuple[Path, ...]:
        """The files that lie beside the modules of what was reached."""
        folders = {self._sources.place(place.partition(":")[0]) for place in self._named}
        folders = {folder if folder.is_dir() else folder.parent for folder in folders}
        beside = [
            path
            for folder in folders - {self._sources.folder}
            if folder.is_dir()
            for path in folder.iterdir()
        ]
        return tuple(sorted(p for p in beside if p.is_file() and p.suffix not in (".py", ".pyc")))

    def _digests(self, places: Sequence[str]) -> dict[str, str]:
        """Return the digest of each definition; where two look alike, what they name counts."""
        labels = {p: self._definitions[p].label(p.partition(":")[2]) for p in places}
        digests: dict[str, str] = {}
        count = -1
        while len({*digests.values()}) > count:
            count = len({*digests.values()})
            alike: defaultdict[str, set[str]] = defaultdict(set)
            for place, digest in digests.items():
                alike[labels[place]].add(digest)
            apart = {p: one for p, one in digests.items() if len(alike[labels[p]]) > 1}
            digests = {place: self._digest(place, apart) for place in places}
        return digests

    def _digest(self, place: str, apart: Mapping[str, str]) -> str:
        """Return the digest of a definition: its code, and that of what it names."""
        definition, named = self._definitions[place], {}
        for chain, labels in self._named[place].items():
            name, dot, rest = chain.partition(".")
            behind_it = [apart.get(behind, label) for label, behind in labels]
            named[definition.aliases.get(name, name) + dot + rest] = behind_it
        return hashlib.sha256(
            json.dumps([definition.code, named], sort_keys=True).encode()
        ).hexdigest()

    def _used(self, module: Module, definition: Definition, chain: Chain) -> list[Label]:
        """Return what stands for what a definition reads by a chain of attributes."""
        name, *attributes = chain
        if name in definition.imports:
            targets = definition.imports[name]
            return [x for on, *path in targets for x in self._behind(on, (*path, *attributes))]
        return self._behind(module.name, chain) if name in module.bound else []

    def _behind(self, name: str, attributes: Chain) -> list[Label]:
        """Note the definitions behind attributes of a module; return what stands for each."""
        if not self._follows(name, *attributes[:1]):
            return []
        outermost = name.partition(".")[0]
        if self._sources.find(outermost) is None:
            if outermost not in sys.stdlib_module_names:
                self._packages.add(outermost)
            return [(".".join(part for part in (name, *attributes) if part != ALL), "")]
        module = self._import(name)
        if module is None or not attributes:
            return []  # the import will fail or has an alternative, or was all that was asked
        attribute, *rest = attributes
        if attribute == ALL:
            return self._whole(module)
        labels: list[Label] = []
        if attribute in module.defined:
            self._waiting.append((module, attribute))
            label = module.defined[attribute].label(attribute)
            labels.append((label, f"{module.name}:{attribute}"))
        for target, *path in module.imports.get(attribute, ()):
            if (target, *path) != (name, attribute):  # a module of this package
                labels += self._behind(target, (*path, *rest))
        inner = f"{name}.{attribute}"
        if not labels and self._sources.find(inner):
            labels += self._behind(inner, tuple(rest))
        elif attribute.startswith("__") and attribute not in module.bound | HARMLESS:
            labels += self._whole(module)  # such as __dict__
        return labels

    def _whole(self, module: Module) -> list[Label]:
        """Note everything that a module defines and imports; of a package, all of its modules."""
        if module.name == CELLS:
            self._waiting.append((module, ALL))
            return []
        for name in sorted(module.bound):
            self._behind(module.name, (name, ALL) if name in module.imports else (name,))
        if module.folder:
            for path in sorted(module.folder.rglob("*.py")):
                inner = path.relative_to(module.folder).with_suffix("").parts
                if inner != ("__init__",):
                    whole = ".".join((module.name, *inner)).removesuffix(".__init__")
                    self._behind(whole, (ALL,))
        return [(module.code, "")]

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
                self._waiting.append((module, ALL))
            for target, *path in module.loads:
                if self._follows(target, *path) and self._import(target) and path:
                    self._import(f"{target}.{path[0]}")  # perhaps a module of a package
        return module

    def _follows(self, *parts: str) -> bool:
        """Return whether a module, or an attribute of one, is not in a package that is left out."""
        return not ".".join((*parts, "")).startswith(tuple(f"{room}." for room in self._without))
