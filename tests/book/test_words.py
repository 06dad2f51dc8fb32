"""The list of words that this book does not use, which `make lint` looks for."""

import re
import tomllib

from tools.this_book import ROOT

WORDS = dict(
    line.split("->") for line in (ROOT / "tools" / "words.txt").read_text("utf-8").splitlines()
)


def test_every_word_is_one_for_the_pattern():
    pattern = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["codespell"]
    assert [word for word in WORDS if not re.fullmatch(pattern["regex"], word)] == []
    assert list(WORDS) == sorted(WORDS)
