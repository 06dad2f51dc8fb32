"""Classic scripts from ES modules: browsers refuse modules of a page that is read from a folder.

Each module becomes a function that returns what it exports, kept in one table, so that two
scripts of a page share the modules they have in common. Named imports and exports of files are
all that is known; anything else ends the build.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, String, Token

from bookbuild.errors import BookError

NAMES = r"\{([^{}]*)\}"
FROM = r'from "((?:\.{1,2}/)+[\w./-]+\.js)";\n?'
IMPORT = re.compile(rf"^import {NAMES} {FROM}", re.MULTILINE)
FORWARD = re.compile(rf"^export {NAMES} {FROM}", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*? |class |const )(\w+))", re.MULTILINE)
ALIAS = re.compile(r"(\w+)(?: as (\w+))?")
TABLE = "globalThis.bookModules"


def join(entry: Path, root: Path) -> str:
    """Return a module and all that it imports as one classic script.

    Modules are named by their paths below root. Raises BookError for what is not known here, for
    names that no module exports, and for modules that import each other in a circle.
    """
    functions: dict[Path, tuple[str, set[str]]] = {}
    _add(entry.resolve(), root.resolve(), functions, ())
    modules = "".join(text for text, _ in functions.values())
    return f'"use strict";\n{TABLE} ??= {{}};\n{modules}'


def join_all(folder: Path) -> None:
    """Replace the modules of a folder by a script for each that no other one imports."""
    sources = {path.resolve(): path.read_text(encoding="utf-8") for path in folder.rglob("*.js")}
    imported = {target for path, text in sources.items() for target in _targets(path, text)}
    scripts = {path: join(path, folder) for path in sources if path not in imported}
    for path in sources:
        path.unlink()
    for path, text in scripts.items():
        path.write_text(text, encoding="utf-8")


def _targets(path: Path, text: str) -> Iterator[Path]:
    """Yield the modules that a module names."""
    for pattern in (IMPORT, FORWARD):
        for _, address in pattern.findall(text):
            yield (path.parent / address).resolve()


def _add(
    path: Path, root: Path, functions: dict[Path, tuple[str, set[str]]], above: tuple[Path, ...]
) -> None:
    """Add a module, after all that it imports, with the names that it exports."""
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    if path in above:
        raise BookError(f"{name}: the module imports itself through other modules.")
    if path in functions:
        return
    if not path.is_file() or not path.is_relative_to(root):
        raise BookError(f"{name}: this module does not exist.")
    text = path.read_text(encoding="utf-8")
    _check(text, name)
    for target in _targets(path, text):
        _add(target, root, functions, (*above, path))

    def taken(names: str, address: str) -> tuple[str, list[tuple[str, str]]]:
        """Return the code of another module, and its names with those that they get here."""
        target = (path.parent / address).resolve()
        pairs = [_alias(item, name) for item in names.split(",") if item.strip()]
        missing = [old for old, _ in pairs if old not in functions[target][1]]
        if missing:
            raise BookError(f"{name}: {address} does not export {', '.join(missing)}.")
        return f'{TABLE}["{target.relative_to(root).as_posix()}"]', pairs

    head, exports, known = "", [], set(EXPORT.findall(text))
    for names, address in IMPORT.findall(text):
        module, pairs = taken(names, address)
        head += f"const {{ {', '.join(f'{old}: {new}' for old, new in pairs)} }} = {module};\n"
    for names, address in FORWARD.findall(text):
        module, pairs = taken(names, address)
        exports += [f"{new}: {module}.{old}" for old, new in pairs]
        known |= {new for _, new in pairs}
    exports += EXPORT.findall(text)
    body = EXPORT.sub("", FORWARD.sub("", IMPORT.sub("", text)))
    function = f"(() => {{\n{head}{body}\nreturn {{ {', '.join(exports)} }};\n}})()"
    functions[path] = (f'{TABLE}["{name}"] ??= {function};\n', known)


def _alias(item: str, name: str) -> tuple[str, str]:
    match = ALIAS.fullmatch(item.strip())
    if not match:
        raise BookError(f"{name}: {item.strip()!r} is not a name to import or export.")
    return match[1], match[2] or match[1]


def _check(text: str, name: str) -> None:
    """Raise BookError unless every import, export and await is one that `join` understands."""
    found = {"import": 0, "export": 0}
    depth = 0
    for kind, value in JavascriptLexer().get_tokens(text):
        if kind in Comment or kind in String:
            continue
        if value in found:
            found[value] += 1
        elif value == "await" and not depth:
            raise BookError(f"{name}: a module that uses await at its top level cannot be joined.")
        elif kind in Token.Punctuation:
            depth += value.count("{") - value.count("}")
    known = {
        "import": len(IMPORT.findall(text)),
        "export": len(EXPORT.findall(text)) + len(FORWARD.findall(text)),
    }
    for word, count in found.items():
        if count != known[word]:
            raise BookError(
                f"{name}: {count} times {word}, of which {known[word]} could be joined."
                ' Known are `import { a } from "./b.js";`, the same with export,'
                " and export before const, function and class."
            )
