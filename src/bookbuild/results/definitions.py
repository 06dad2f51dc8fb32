"""What code depends on: the definitions that it reaches by name, across the modules of src.

A function depends on the functions, classes and constants that it names, on those that they name,
and so on; a class counts whole. What else lies in their modules does not count. That is sound where
importing a module only defines (`tests/emergence/test_modules.py`); statements of a module that do
more are counted for whoever imports it. A module that is passed around, read by `getattr` or
imported by `*` counts whole as well.

The digest of a definition holds its code and that of each definition it names, but not the module
they lie in: moving a function from one module to another changes nothing.
"""

import hashlib
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from .modules import ALL, Definition, Module, parse, parse_together

RUNNING = "emergence.running"
# Where a result is kept and where it is computed never changes it.
KEEPING = tuple(f"{RUNNING}.{room}" for room in ("cache", "executors", "progress", "sweep"))
# What draws, and what passes a number on, never makes one.
SHOWING = ("emergence.plotting", "matplotlib", "bookbuild")
CELLS = "cells of a chapter"
HARMLESS = {"__file__", "__name__", "__doc__"}

Path_ = tuple[str, ...]  # attributes, one after another


@dataclass(frozen=True)
class Reached:
    """What some code depends on.

    Attributes:
        digests: of each definition, by where it lies, such as `emergence.tasks:token_pairs`.
        files: that lie beside the modules and may be read, such as a style sheet.
        packages: the outermost packages from elsewhere.
    """

    digests: Mapping[str, str]
    files: tuple[Path, ...]
    packages: tuple[str, ...]

    @property
    def code(self) -> str:
        """One digest of it all, whatever the modules and the versions of packages."""
        parts = sorted({*self.digests.values(), *map(_sha256, self.files)})
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def reached_by_cells(cells: Iterable[str], src: Path, *, shown: bool = True) -> Reached:
    """Return what the cells of a chapter depend on, the cells themselves left out.

    Without what is shown, it is what their numbers depend on. Otherwise, where the code may show
    sources, comments and docstrings count.
    """
    closure = _Closure(src, KEEPING if shown else (*KEEPING, *SHOWING), texts=shown)
    closure.add(together(cells))
    found = closure.followed((CELLS, ALL))
    del found[f"{CELLS}:{ALL}"]
    return Reached(found, closure.resources, tuple(sorted(closure.packages)))


def reached_by(names: Iterable[tuple[str, str]], src: Path) -> Reached:
    """Return what functions and classes depend on, each a module and a qualified name.

    Nothing of what draws or reports is followed. Where a module has no such name it counts whole.
    """
    closure = _Closure(src, (*KEEPING, *SHOWING))
    roots = [(name, *qualified.split(".")) for name, qualified in names]
    roots = [
        root if (module := closure.find(root[0])) and root[1] in module.bound else (root[0], ALL)
        for root in roots
    ]
    return Reached(closure.followed(*roots), closure.resources, tuple(sorted(closure.packages)))


def together(cells: Iterable[str]) -> Module:
    """Return the cells of a chapter as one module."""
    return parse_together(tuple(map(_without_magic, cells)), CELLS)


@cache
def _without_magic(cell: str) -> str:
    """Return a cell as Python, without what only a notebook understands."""
    return TransformerManager().transform_cell(cell)


class _Closure:
    """References followed to the definitions behind them."""

    def __init__(self, src: Path, without: Collection[str], *, texts: bool = False) -> None:
        self.packages: set[str] = set()
        self._src, self._without, self._texts = src, tuple(without), texts
        self._modules: dict[str, Module | None] = {}
        self._imported: set[str] = set()
        self._waiting: list[tuple[str, str]] = []
        self._found: dict[str, dict[str, list[str]]] = {}
        self._shown = False

    def add(self, module: Module) -> None:
        """Make a module known that has no file."""
        self._modules[module.name] = module

    def followed(self, *roots: Path_) -> dict[str, str]:
        """Return the digest of each definition that the roots reach, by where it lies."""
        for name, *attributes in roots:
            self._behind(name, tuple(attributes))
        while self._waiting:
            name, defined = self._waiting.pop()
            place = f"{name}:{defined}"
            if place in self._found:
                continue
            module = self._modules[name]
            assert module is not None
            definition = module.defined[defined]
            self._shown |= definition.reads_sources
            self._found[place] = {
                ".".join(chain): labels
                for chain in definition.uses
                if (labels := self._used(module, definition, chain))
            }
        return {place: self._digest(place) for place in sorted(self._found)}

    @property
    def resources(self) -> tuple[Path, ...]:
        """The files that lie beside the modules of what was found."""
        folders = {self._src.joinpath(*place.partition(":")[0].split(".")) for place in self._found}
        folders = {folder if folder.is_dir() else folder.parent for folder in folders}
        return tuple(
            sorted(
                path
                for folder in folders - {self._src}
                if folder.is_dir()
                for path in folder.iterdir()
                if path.is_file() and path.suffix not in (".py", ".pyc")
            )
        )

    def find(self, name: str) -> Module | None:
        """Return a module or package of src; None for a name that is neither."""
        if name not in self._modules:
            self._modules[name] = self._read(name) if name else None
        return self._modules[name]

    def _digest(self, place: str) -> str:
        """Return the digest of a definition: its code, and that of what it names."""
        own = self._definition(place)
        code = own.text if self._shown and self._texts else own.code
        return hashlib.sha256(json.dumps([code, self._found[place]]).encode()).hexdigest()

    def _definition(self, place: str) -> Definition:
        name, _, defined = place.partition(":")
        module = self._modules[name]
        assert module is not None
        return module.defined[defined]

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
        if self.find(outermost) is None:
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
            labels.append(module.defined[attribute].code)
        for target, *path in module.imports.get(attribute, ()):
            if (target, *path) != (name, attribute):  # a module of this package
                labels += self._behind(target, (*path, *rest))
        inner = f"{name}.{attribute}"
        if not labels and self.find(inner):
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
                inner = self._name_of(path)
                if inner != module.name:
                    self._behind(inner, (ALL,))
        return [module.code]

    def _import(self, name: str) -> Module | None:
        """Return a module of src, once what its import executes is noted."""
        parts = name.split(".")
        module = None
        for length in range(1, len(parts) + 1):  # importing a.b.c executes a and a.b first
            module = self.find(".".join(parts[:length]))
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

    def _read(self, name: str) -> Module | None:
        folder = self._src.joinpath(*name.split("."))
        init, alone = folder / "__init__.py", folder.with_name(f"{folder.name}.py")
        if init.is_file():
            return parse(init.read_bytes(), name, name, folder)
        if alone.is_file():
            return parse(alone.read_bytes(), name, name.rpartition(".")[0], None)
        return parse(b"", name, name, folder) if folder.is_dir() else None

    def _name_of(self, path: Path) -> str:
        parts = path.relative_to(self._src).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
