"""What code depends on: the modules of src that it imports, whatever it uses of them.

The sources are read and not run. Imports are followed wherever they stand, in functions as well,
together with the `__init__` of each package on the way. A module that is imported by a computed
name is not found. The digest of a module leaves out its comments, docstrings and layout.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from bookbuild.source.book import read_book

OURS = "bookbuild"  # the package that every book imports, wherever it lies
# Where a result is kept or computed never changes it: modules of the package `running`.
KEEPING = ("cache", "executors", "memo", "progress", "sweep")
# What draws or reports a number never changes it; a book names packages of its own.
SHOWING = ("matplotlib", OURS)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

Import = tuple[int, str]  # the number of dots before a name, and the name


@dataclass(frozen=True)
class Dependencies:
    """What some code depends on besides itself."""

    modules: Mapping[str, str]  # digests of their code, by name
    files: tuple[Path, ...]  # that lie beside the modules and may be read, such as a style sheet
    packages: tuple[str, ...]  # the outermost ones from elsewhere

    @property
    def code(self) -> str:
        """One digest of all modules and files, whatever the versions of packages."""
        files = sorted(map(sha256_of, self.files))
        return hashlib.sha256(
            json.dumps([sorted(self.modules.items()), files]).encode()
        ).hexdigest()


def reached_by_cells(cells: Iterable[str], src: Path, *, shown: bool = True) -> Dependencies:
    """Return what the cells of a chapter import, all of it or only what their numbers need."""
    imported = (name for cell in cells for _, name in read(_plain(cell))[1])
    return _reached(imported, src, _left_out(src, shown))


def reached_by(modules: Iterable[str], src: Path) -> Dependencies:
    """Return what modules import, and these, without what only draws or reports."""
    return _reached(modules, src, _left_out(src, shown=False))


def code_of_cells(cells: Iterable[str]) -> list[str]:
    """Return a digest of the code of each cell."""
    return [read(_plain(cell))[0] for cell in cells]


@cache
def read(content: bytes) -> tuple[str, tuple[Import, ...]]:
    """Return a digest of some code, and what it imports: modules, or attributes of such.

    Code that cannot be parsed imports nothing and counts by its bytes.
    """
    try:
        tree = ast.parse(content)  # bytes, for a comment may declare their encoding
    except (SyntaxError, ValueError):
        return hashlib.sha256(content).hexdigest(), ()
    imports = tuple(dict.fromkeys(_imports(tree)))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    # unlike `ast.dump`, the text is the same in different versions of Python
    text = ast.unparse(tree).encode(errors="surrogatepass")
    return hashlib.sha256(text).hexdigest(), imports


@cache
def folder_of() -> Path:
    """Return the folder of our package."""
    spec = find_spec(OURS)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _plain(cell: str) -> bytes:
    """Return a cell without what only a notebook understands."""
    return TransformerManager().transform_cell(cell).encode(errors="surrogatepass")


def _imports(tree: ast.AST) -> Iterator[Import]:
    """Yield what import statements name, wherever they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{node.module}." if node.module else ""
            yield from ((node.level, module + alias.name) for alias in node.names)


def _reached(names: Iterable[str], src: Path, without: Collection[str]) -> Dependencies:
    """Return the modules behind some names, and all that these import, but for some packages."""
    modules: dict[str, str] = {}
    folders: set[Path] = set()
    packages: set[str] = set()
    waiting, known = [*names], {*without}
    while waiting:
        name = waiting.pop()
        package = name.rpartition(".")[0]
        if name in known or any(name.startswith(f"{each}.") for each in without):
            continue
        known.add(name)
        path = _find(name, src)
        if path is not None:
            modules[name], imports = read(path.read_bytes())
            folders.add(path.parent)
            inside = name if path.name == "__init__.py" else package
            waiting += (_absolute(*each, inside) for each in imports)
        elif not package and not (src / name).is_dir() and name not in sys.stdlib_module_names:
            packages.add(name)
        if package:
            waiting.append(package)
    beside = (path for folder in folders - {src} for path in folder.iterdir() if path.is_file())
    files = tuple(sorted(path for path in beside if path.suffix not in (".py", ".pyc")))
    return Dependencies(modules, files, tuple(sorted(packages)))


def _find(name: str, src: Path) -> Path | None:
    """Return the file of a module or of the `__init__` of a package, if it lies in src."""
    outermost, *inner = name.split(".")
    place = src / outermost
    if outermost == OURS and not place.is_dir():
        place = folder_of()
    place = place.joinpath(*inner)
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _absolute(dots: int, name: str, package: str) -> str:
    """Return the whole name of an import in a package."""
    above = package.split(".")[: package.count(".") + 2 - dots] if dots else []
    return ".".join([*above, name])


def _left_out(src: Path, shown: bool) -> tuple[str, ...]:
    """Return the packages and modules that change nothing, as the book beside src names them."""
    book = read_book(src.parent)
    keeping = tuple(f"{book.running}.{name}" for name in KEEPING if book.running)
    return keeping if shown else (*keeping, *SHOWING, *book.drawing)
