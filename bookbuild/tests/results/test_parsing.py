"""What stands for a module changes with its code alone."""

import pytest

from bookbuild.results.code.modules import parse

CODE = '''"""A module."""

import math


def f(x: float, *, y: float = 1.0) -> float:
    """The sum."""
    return x + y


class C:
    """A class."""

    text = "# no comment"
'''


def code(content: bytes) -> object:
    module = parse(content, "module", "", None)
    return module.code, module.imports


def edited(old: str, new: str) -> bytes:
    assert old in CODE
    return CODE.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another."""'),
        ('"""A module."""', "# none"),
        ("import math\n", "import math  # for nothing\n\n\n"),
        ('    """The sum."""\n', ""),
        ('    """A class."""\n\n', "    '''Another\n    text'''\n"),
        ("(x: float, *, y: float = 1.0)", "(\n    x: float,\n    *,\n    y: float = 1.0,\n)"),
        ("return x + y", "return (x + y)"),
        ("1.0", "1.00"),
        ("float = 1.0", "int = 1.0"),
    ],
)
def test_comments_formatting_and_docstrings_do_not_count(old: str, new: str) -> None:
    assert code(edited(old, new)) == code(CODE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + y", "y + x"),
        ("1.0", "1"),
        ("1.0", "True"),
        ("# no comment", "# comment"),
        ("import math", "import cmath as math"),
        ("return x + y", "return x + y; y"),
        ("return x + y", "'a string'\n    return x + y"),
        ("def f", "@staticmethod\ndef f"),
        ("class C:", "class C(int):"),
    ],
)
def test_code_counts(old: str, new: str) -> None:
    assert code(edited(old, new)) != code(CODE.encode())


def test_a_declared_encoding_counts_where_it_changes_a_text() -> None:
    text = b'x = "\xc3\xa9"\n'
    assert code(b"# coding: latin-1\n" + text) != code(text)
    assert code(b"# coding: utf-8\n" + text) == code(text)


def test_what_cannot_be_parsed_counts_by_its_bytes() -> None:
    assert code(b"x =") != code(b"x =  # a comment")


@pytest.mark.parametrize(
    "statement",
    [
        "print()", "x.y = 1", "x['y'] = 1", "del x", "for x in y: pass", "with x: pass",
        "if x: import y", "from y import *", "try:\n    import y\nexcept ImportError:\n    y = 1",
    ],
)  # fmt: skip
def test_a_statement_that_does_more_than_define_counts_for_whoever_imports(statement: str) -> None:
    assert "*" in parse(statement.encode(), "module", "", None).defined


@pytest.mark.parametrize(
    "statement",
    [
        "import y", "from y import z", "x = y = 1", "x, y = 1, 2", "x: int = 1", "x += 1", "pass",
        "def f(): print()", "class C:\n    x = 1", "'a text'",
        "if TYPE_CHECKING:\n    import y", "if __name__ == '__main__':\n    print()",
    ],
)  # fmt: skip
def test_a_statement_that_defines_counts_where_its_name_is_read(statement: str) -> None:
    assert "*" not in parse(statement.encode(), "module", "", None).defined
