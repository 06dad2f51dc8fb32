"""References followed from definitions to those behind them, across the modules of src."""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .modules import CELLS, Definition, Module, Sources
from .names import ALL

HARMLESS = {"__file__", "__name__", "__doc__"}


class Label(str):
    """What stands for a definition where it is read, and where that lies."""

    place = ""


Path_ = tuple[str, ...]  # attributes, one after another


@dataclass(frozen=True)
class Reached:
    """What some code depends on.

    Attributes:
        digests: of each definition and of those it names, by where it lies, such as
            `science.tasks:sample`.
        constants: the numbers and texts of each statement, as often as they stand in the code.
        files: that lie beside the modules and may be read, such as a style sheet.
        packages: the outermost packages from elsewhere.
    """

    digests: Mapping[str, str]
    constants: Mapping[tuple[str, ...], int]
    files: tuple[Path, ...]
    packages: tuple[str, ...]

    @property
    def code(self) -> str:
        """One digest of it all, whatever the modules and the versions of packages."""
        parts = sorted({*self.digests.values(), *map(sha256_of, self.files)})
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class Closure:
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
            self._digests(places),
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
        folders = {self._sources.place(place.partition(":")[0]) for place in self._found}
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

    def _digests(self, places: Sequence[str]) -> dict[str, str]:
        """Return the digest of each definition; where two look alike, what they name counts."""
        labels = {p: self._defined(p)[1].label(p.partition(":")[2]) for p in places}
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
        _, own = self._defined(place)
        code = own.text if self._shown and self._texts else own.code
        told = {
            chain: [apart.get(getattr(one, "place", ""), str(one)) for one in labels]
            for chain, labels in self._found[place].items()
        }
        chains = ((chain.partition("."), labels) for chain, labels in told.items())
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
        labels: list[str] = []
        if attribute in module.defined:
            self._waiting.append((module.name, attribute))
            label = Label(module.defined[attribute].label(attribute))
            label.place = f"{module.name}:{attribute}"
            labels.append(label)
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
                inner = path.relative_to(module.folder).with_suffix("").parts
                if inner != ("__init__",):
                    whole = ".".join((module.name, *inner)).removesuffix(".__init__")
                    self._behind(whole, (ALL,))
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
