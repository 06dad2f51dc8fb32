"""A module's digest changes with its code alone."""

import pytest

from bookbuild.results.parsed import code_digest

CODE = '''"""A module."""

import math


def f(x: float, *, y: float = 1.0) -> float:
    """The sum."""
    return x + y


class C:
    """A class."""

    text = "# no comment"
'''


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
    ],
)
def test_comments_formatting_and_docstrings_do_not_count(old: str, new: str) -> None:
    assert code_digest(edited(old, new)) == code_digest(CODE.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + y", "y + x"),
        ("1.0", "1"),
        ("1.0", "True"),
        ("# no comment", "# comment"),
        ("float = 1.0", "int = 1.0"),
        ("import math", "import cmath as math"),
        ("return x + y", "return x + y; y"),
        ("return x + y", "'a string'\n    return x + y"),
        ("def f", "@staticmethod\ndef f"),
        ("class C:", "class C(int):"),
    ],
)
def test_code_counts(old: str, new: str) -> None:
    assert code_digest(edited(old, new)) != code_digest(CODE.encode())


def test_a_declared_encoding_counts_where_it_changes_a_text() -> None:
    text = b'x = "\xc3\xa9"\n'
    assert code_digest(b"# coding: latin-1\n" + text) != code_digest(text)
    assert code_digest(b"# coding: utf-8\n" + text) == code_digest(text)


def test_what_cannot_be_parsed_counts_by_its_bytes() -> None:
    assert code_digest(b"x =") != code_digest(b"x =  # a comment")
