"""Modules joined into classic scripts: what works, and what stops the build."""

from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.site.scripts import join, join_all

LEAF = """/** What
 * others import. */
export const ONE = 1; // no more
let count = 0; // it's "zero"
export function next() {
  // and once more
  count += ONE;
  return `${count} // of many`;
}
"""

BARE = """const ONE = 1;
let count = 0; // it's "zero"
function next() {
count += ONE;
return `${count} // of many`;
}
"""


def write(folder: Path, **modules: str) -> Path:
    """Write modules by their names, and return their folder."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def test_a_module_comes_after_what_it_imports_and_loses_its_keywords(tmp_path: Path) -> None:
    root = 'import { ONE, next } from "./leaf.js";\nnext(ONE);\n'
    join_all(write(tmp_path, leaf=LEAF, root=root, other=root))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.js", "root.js"]
    script = (tmp_path / "root.js").read_text(encoding="utf-8")
    assert script.index('["leaf.js"] ??=') < script.index('["root.js"] ??=')
    assert "return { ONE, next };" in script
    assert 'const { ONE, next } = globalThis.bookModules["leaf.js"];' in script
    assert "import {" not in script
    assert BARE in script
    assert "export " not in script


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('import * as leaf from "./leaf.js";', "import"),
        ('import "./leaf.js";', "import"),
        ("export let count = 0;", "export"),
        ("const one = 1;\nexport { one };", "export"),
        ('import { ONE } from "../../../leaf.js";', "does not exist"),
    ],
)  # fmt: skip
def test_what_is_not_known_ends_the_build(tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, leaf=LEAF, root=f"{text}\n")
    with pytest.raises(BookError, match=complaint):
        join(tmp_path / "root.js", tmp_path)
