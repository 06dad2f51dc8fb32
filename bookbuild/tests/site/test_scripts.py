"""Modules joined into classic scripts: what works, and what stops the build."""

from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.site.scripts import join, join_all

LEAF = """export const ONE = 1;
let count = 0;
export function next() { count += ONE; return count; }
"""


def write(folder: Path, **modules: str) -> Path:
    """Write modules by their names, and return their folder."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def test_a_module_comes_after_what_it_imports_and_loses_its_keywords(tmp_path: Path) -> None:
    write(tmp_path, leaf=LEAF, root='import { ONE, next } from "./leaf.js";\nnext(ONE);\n')
    script = join(tmp_path / "root.js", tmp_path)
    assert script.index('["leaf.js"] ??=') < script.index('["root.js"] ??=')
    assert "return { ONE, next };" in script
    assert 'const { ONE, next } = globalThis.bookModules["leaf.js"];' in script
    assert "import {" not in script
    assert "export " not in script


def test_a_folder_keeps_a_script_for_each_module_that_no_other_imports(tmp_path: Path) -> None:
    root = 'import { next } from "./leaf.js";\nnext();\n'
    join_all(write(tmp_path, leaf=LEAF, first=root, second=root))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.js", "second.js"]
    for path in tmp_path.iterdir():
        assert '["leaf.js"] ??=' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('import * as leaf from "./leaf.js";', "import"),
        ('import "./leaf.js";', "import"),
        ("export let count = 0;", "export"),
        ("const one = 1;\nexport { one };", "export"),
        ('import { two } from "./leaf.js";', "does not export two"),
        ('import { ONE } from "../../../leaf.js";', "does not exist"),
        ('import { ONE as one } from "./leaf.js";', "import"),
    ],
)  # fmt: skip
def test_what_is_not_known_ends_the_build(tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, leaf=LEAF, root=f"{text}\n")
    with pytest.raises(BookError, match=complaint):
        join(tmp_path / "root.js", tmp_path)


def test_words_in_strings_and_comments_are_left_alone(tmp_path: Path) -> None:
    text = '// what others import\nconst text = "to export";\nasync () => { await text; };\n'
    assert text in join(write(tmp_path, root=text) / "root.js", tmp_path)


def test_a_circle_is_refused(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        text = f'import {{ {other} }} from "./{other}.js";\nexport const {one} = 1;\n'
        write(tmp_path, **{one: text})
    with pytest.raises(BookError, match="imports itself"):
        join(tmp_path / "a.js", tmp_path)
