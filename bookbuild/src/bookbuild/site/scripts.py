"""Classic scripts from ES modules: browsers refuse modules of a page that is read from a folder.

Each module becomes a function that returns what it exports, kept in one table, so that two
scripts of a page share the modules they have in common. Imports of names from files, and exports
where they are defined, are all that is known; another import or export ends the build.
"""

import re
from pathlib import Path

from bookbuild.errors import BookError

NAMES = r"\{\s*(\w+(?:,\s*\w+)*),?\s*\}"
IMPORT = re.compile(rf'^import {NAMES} from "((?:\.{{1,2}}/)+[\w./-]+\.js)";\n?', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*? |class |const )(\w+))", re.MULTILINE)
UNKNOWN = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)
TABLE = "globalThis.bookModules"


def join(entry: Path, root: Path) -> str:
    """Return a module and all that it imports as one classic script.

    Modules are named by their paths below root. Raises BookError for what is not known here, for
    names that no module exports, and for modules that import each other in a circle.
    """
    functions: dict[Path, str] = {}
    _add(entry.resolve(), root.resolve(), functions, ())
    return f'"use strict";\n{TABLE} ??= {{}};\n{"".join(functions.values())}'


def join_all(folder: Path) -> None:
    """Replace the modules of a folder by a script for each that no other one imports."""
    sources = {path.resolve(): path.read_text(encoding="utf-8") for path in folder.rglob("*.js")}
    imported = {target for path, text in sources.items() for target, _ in _imports(path, text)}
    scripts = {path: join(path, folder) for path in sources if path not in imported}
    for path in sources:
        path.unlink()
    for path, text in scripts.items():
        path.write_text(text, encoding="utf-8")


def _imports(path: Path, text: str) -> list[tuple[Path, list[str]]]:
    """Return the modules that a module imports, each with the names that it takes from there."""
    return [
        ((path.parent / address).resolve(), names.replace(",", " ").split())
        for names, address in IMPORT.findall(text)
    ]


def _add(path: Path, root: Path, functions: dict[Path, str], above: tuple[Path, ...]) -> None:
    """Add a module as a function, after all that it imports."""
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    if path in above:
        raise BookError(f"{name}: the module imports itself through other modules.")
    if path in functions:
        return
    if not path.is_file() or not path.is_relative_to(root):
        raise BookError(f"{name}: this module does not exist.")
    text = path.read_text(encoding="utf-8")
    head = ""
    for target, taken in _imports(path, text):
        _add(target, root, functions, (*above, path))
        exported = EXPORT.findall(target.read_text(encoding="utf-8"))
        missing = [one for one in taken if one not in exported]
        if missing:
            raise BookError(f"{name}: {target.name} does not export {', '.join(missing)}.")
        module = target.relative_to(root).as_posix()
        head += f'const {{ {", ".join(taken)} }} = {TABLE}["{module}"];\n'
    exports, body = EXPORT.findall(text), EXPORT.sub("", IMPORT.sub("", text))
    if unknown := UNKNOWN.search(body):
        raise BookError(
            f"{name}: {unknown[0].strip()!r} cannot be joined. Known are "
            '`import { a } from "./b.js";` and export before const, function, class.'
        )
    function = f"(() => {{\n{head}{body}\nreturn {{ {', '.join(exports)} }};\n}})()"
    functions[path] = f'{TABLE}["{name}"] ??= {function};\n'
