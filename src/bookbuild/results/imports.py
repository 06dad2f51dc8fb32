"""What the code of a chapter depends on: modules of src, and packages from elsewhere.

A module is depended on whole: all of its code, and what that uses. A package whose `__init__` only
imports names is looked through: of `from a import b` and `b.c(x)`, or of `from a.b import c`, it is
the module that defines c that counts, not what else the `__init__` of a.b imports. That is sound
because importing a module of such a package only defines (`tests/emergence/test_modules.py`).
Any other `__init__` is run by whoever imports from its package, and counts with all it uses. So
does all of a package that is passed around, read by `getattr`, or imported by `*`.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from .parsed import ALL, Source, extended, parse, parse_together, top

# Where runs are computed never changes a result: a sweep gives the same bits by any executor.
# What this room imports in its functions, such as Dask, is therefore in no key.
EXECUTION = "emergence.running"


@dataclass(frozen=True)
class Imports:
    """What some code depends on.

    Files of src, modules and the files their packages carry; names bound by packages that were
    looked through, with what they refer to; names of other packages. `shown` says that the code,
    or a module of it, may show sources, so that their comments count.
    """

    files: tuple[Path, ...]
    names: Mapping[str, str]
    packages: tuple[str, ...]
    shown: bool


def find_imports(sources: Iterable[str], src: Path) -> Imports:
    """Return everything the sources use, directly or through modules of src."""
    closure = _Closure(src)
    closure.follow(parse_together(tuple(map(_without_magic, sources))))
    return Imports(
        tuple(sorted(closure.files)),
        dict(sorted(closure.names.items())),
        tuple(sorted(closure.packages)),
        closure.shown,
    )


@cache
def _without_magic(cell: str) -> str:
    """Return a cell as Python, without what only a notebook understands."""
    return TransformerManager().transform_cell(cell)


@dataclass(frozen=True)
class _Module:
    """A module of src, or a package: its folder, where it is one, and its source, if it has one."""

    name: str
    folder: Path | None
    file: Path | None
    source: Source | None

    @property
    def looked_through(self) -> bool:
        """Whether this is a package that does nothing but bind names."""
        return self.folder is not None and (self.source is None or self.source.only_binds)


class _Closure:
    """References followed to the modules behind them."""

    def __init__(self, src: Path) -> None:
        self.files: set[Path] = set()
        self.names: dict[str, str] = {}
        self.packages: set[str] = set()
        self.shown = False
        self._src = src
        self._modules: dict[str, _Module | None] = {}
        self._executed: set[str] = set()

    def follow(self, code: Source) -> None:
        self.shown |= code.reads_sources
        waiting, seen = set(code.uses), set()
        while waiting:
            reference = waiting.pop()
            seen.add(reference)
            waiting.update(set(self._behind(reference)) - seen)

    def _behind(self, reference: str) -> Iterator[str]:
        """Note the modules that a reference leads through; yield the references to follow next."""
        if self._find(top(reference)) is None:
            if top(reference) not in sys.stdlib_module_names:
                self.packages.add(top(reference))
            return
        named, _, attributes = reference.partition(":")
        module, parts = None, named.split(".")
        for length in range(1, len(parts) + 1):  # importing a.b.c executes a and a.b first
            module = self._find(".".join(parts[:length]))
            if module is None:
                return  # the import will fail, or has an alternative
            yield from self._execute(module)
        while module and attributes:
            attribute, _, attributes = attributes.partition(".")
            if attribute == ALL:
                yield from self._all_of(module)
                return
            targets = self._bound(module, attribute)
            yield from (extended(target, attributes) for target in targets)
            inner = self._find(f"{module.name}.{attribute}")
            if inner:
                yield from self._execute(inner)
            elif not targets and (module.looked_through or attribute.startswith("__")):
                yield f"{module.name}:{ALL}"  # such as __dict__
            module = inner

    def _execute(self, module: _Module) -> Iterator[str]:
        """Note what the import of a module executes; yield what that uses."""
        if module.name in self._executed:
            return
        self._executed.add(module.name)
        if module.folder:
            self.files.update(_resources(module.folder))
        if module.source is None or module.looked_through:
            return
        self._note(module)
        runs = f"{module.name}.".startswith(f"{EXECUTION}.")
        for reference in module.source.uses:
            lazy = top(reference) in module.source.lazy and self._find(top(reference)) is None
            if not (runs and lazy):
                yield reference

    def _bound(self, module: _Module, attribute: str) -> tuple[str, ...]:
        """Return what a name of a module refers to, if an import binds it."""
        targets = module.source.bindings.get(attribute, ()) if module.source else ()
        if targets and module.looked_through:
            self.names[f"{module.name}:{attribute}"] = " ".join(targets)
        return targets

    def _all_of(self, module: _Module) -> Iterator[str]:
        """Yield all that a module binds by import; of a package, all modules in its folder."""
        self._note(module)
        if module.source:
            for targets in module.source.bindings.values():
                yield from (extended(target, ALL) for target in targets)
        if module.folder:
            for path in module.folder.rglob("*.py"):
                parts = path.relative_to(self._src).with_suffix("").parts
                yield f"{'.'.join(parts).removesuffix('.__init__')}:"

    def _note(self, module: _Module) -> None:
        if module.file and module.source:
            self.files.add(module.file)
            self.shown |= module.source.reads_sources

    def _find(self, name: str) -> _Module | None:
        """Return a module or package of src; None for a name that is neither."""
        if name not in self._modules:
            self._modules[name] = self._read(name) if name else None
        return self._modules[name]

    def _read(self, name: str) -> _Module | None:
        folder = self._src.joinpath(*name.split("."))
        init, alone = folder / "__init__.py", folder.with_name(f"{folder.name}.py")
        if init.is_file():
            return _Module(name, folder, init, parse(init.read_bytes(), name))
        if alone.is_file():
            package = name.rpartition(".")[0]
            return _Module(name, None, alone, parse(alone.read_bytes(), package))
        return _Module(name, folder, None, None) if folder.is_dir() else None


def _resources(package: Path) -> Iterator[Path]:
    """Yield the files beside a package's modules that its code may read, such as a style sheet."""
    for path in package.iterdir():
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path
