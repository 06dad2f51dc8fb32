"""Classic scripts from ES modules: browsers refuse modules of a page that is read from a folder.

Each module becomes a function that returns what it exports, kept in one table, so that two
scripts of a page share the modules they have in common. Imports of names from files, and exports
where they are defined, are all that is known; another import or export ends the build. Comments
and indentation stay behind, so a template string keeps to one line.
"""

import re
from pathlib import Path

from bookbuild.errors import BookError

NAMES = r"\{\s*(\w+(?:,\s*\w+)*),?\s*\}"
IMPORT = re.compile(rf'^import {NAMES} from "((?:\.{{1,2}}/)+[\w./-]+\.js)";\n?', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*? |class |const )(\w+))", re.MULTILINE)
UNKNOWN = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)
# empty lines and comments, those at the end of a line only without quotes, and indentation
SPARE = re.compile(
    r"^[ \t]*(?:/\*.*?\*/|//[^\n]*)?\n|[ \t]+//[^\n\"'`]*$|^[ \t]+", re.MULTILINE | re.DOTALL
)
TABLE = "globalThis.bookModules"


def join(entry: Path, root: Path) -> str:
    """Return a module and all that it imports as one classic script.

    Modules are named by their paths below root. Raises BookError for what is not known here, and
    for modules that do not exist.
    """
    functions: dict[Path, str] = {}
    _add(entry.resolve(), root.resolve(), functions)
    return f'"use strict";\n{TABLE} ??= {{}};\n{"".join(functions.values())}'


def join_all(folder: Path) -> None:
    """Replace the modules of a folder by a script for each that no other one imports."""
    modules = {path.resolve() for path in folder.rglob("*.js")}
    imported = {target for path in modules for target, _ in _imports(path)}
    scripts = {path: join(path, folder) for path in modules - imported}
    for path in modules:
        path.unlink()
    for path, text in scripts.items():
        path.write_text(text, encoding="utf-8")


def _imports(path: Path) -> list[tuple[Path, str]]:
    matches = IMPORT.findall(path.read_text(encoding="utf-8"))
    return [((path.parent / address).resolve(), names) for names, address in matches]


def _add(path: Path, root: Path, functions: dict[Path, str]) -> None:
    """Add a module as a function, after all that it imports."""
    if path in functions:
        return
    if not (path.is_file() and path.is_relative_to(root)):
        raise BookError(f"{path.name}: this module does not exist.")
    name, head = path.relative_to(root).as_posix(), ""
    text = SPARE.sub("", path.read_text(encoding="utf-8"))
    for target, taken in _imports(path):
        _add(target, root, functions)
        head += f'const {{ {taken} }} = {TABLE}["{target.relative_to(root).as_posix()}"];\n'
    exports, body = ", ".join(EXPORT.findall(text)), EXPORT.sub("", IMPORT.sub("", text))
    if unknown := UNKNOWN.search(body):
        raise BookError(
            f"{name}: {unknown[0].strip()!r} cannot be joined. Known are "
            '`import { a } from "./b.js";` and export before const, function, class.'
        )
    function = f"(() => {{\n{head}{body}\nreturn {{ {exports} }};\n}})()"
    functions[path] = f'{TABLE}["{name}"] ??= {function};\n'
