"""Find what the code of a chapter imports: modules of src, and packages from elsewhere."""

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager


@dataclass(frozen=True)
class Imports:
    """Files of src, modules and the files their packages carry, and names of other packages."""

    files: tuple[Path, ...]
    packages: tuple[str, ...]


def find_imports(sources: Iterable[str], src: Path) -> Imports:
    """Return everything the sources import, directly or through modules of src."""
    plain = TransformerManager()
    waiting = {name for text in sources for name in _imported(plain.transform_cell(text), "")}
    seen: set[str] = set()
    files: set[Path] = set()
    packages: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        path = _module_file(name, src)
        if path is None:
            top = name.partition(".")[0]
            if not _belongs_to(src, top) and top not in sys.stdlib_module_names:
                packages.add(top)
            continue
        files.add(path)
        is_package = path.name == "__init__.py"
        if is_package:
            files.update(_resources(path.parent))
        # Importing a.b.c runs a and a.b first.
        waiting.update(_parents(name) - seen)
        base = name if is_package else name.rpartition(".")[0]
        text = path.read_text(encoding="utf-8")
        waiting.update(set(_imported(text, base)) - seen)
    return Imports(tuple(sorted(files)), tuple(sorted(packages)))


def _imported(text: str, package: str) -> Iterator[str]:
    """Yield the dotted names a source may import; `from a import b` gives a and a.b."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # the cell will fail when it is executed, with a better message
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the absolute name of the module a statement imports from."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, node.module] if node.module else kept)


def _parents(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


def _belongs_to(src: Path, top: str) -> bool:
    return (src / top).is_dir() or (src / f"{top}.py").is_file()


def _module_file(name: str, src: Path) -> Path | None:
    """Return the file of a module of src, or None for a name that is no such module."""
    path = src.joinpath(*name.split("."))
    for candidate in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if candidate.is_file():
            return candidate
    return None


def _resources(package: Path) -> Iterator[Path]:
    """Yield the files beside a package's modules that its code may read, such as a style sheet."""
    for path in package.iterdir():
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path
