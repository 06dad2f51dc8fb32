"""`make lint` reads what people read, and knows the words that this book does not use."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools.this_book import ROOT

WORDS = dict(
    line.split("->") for line in (ROOT / "tools" / "words.txt").read_text("utf-8").splitlines()
)
CELL = """# Title

```{{code-cell}} ipython3
---
mystnb:
  image:
    alt: {alt}
---
{code}
```

{prose}
"""


def command() -> list[str]:
    """The line of `make lint` that checks words."""
    output = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True)
    (line,) = (line for line in output.stdout.splitlines() if "codespell" in line)
    return line.split()


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A folder with one blameless file for all that `make lint` reads."""
    (tmp_path / "tools").mkdir()
    for name in ("pyproject.toml", "tools/words.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in command()[3:]:
        path = tmp_path / name
        path = path if path.suffix else path / "page.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("Each label attends to its item.\n", encoding="utf-8")
    return tmp_path


def lint(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *command()[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("book/page.md", CELL.format(alt="None.", code="1", prose="Compare turned runs.")),
        ("book/page.md", CELL.format(alt="Shares of turned runs.", code="1", prose="None.")),
        ("data/claims.yml", '- why: "Over turned runs."\n'),
        ("src/page.py", '"""Of turned runs."""\n'),
        ("CHANGELOG.md", "A recieved page.\n"),
    ],
)
def test_a_planted_word_fails_wherever_people_read(book, file, text):
    (book / file).write_text(text, encoding="utf-8")
    code, output = lint(book)
    assert code != 0
    assert re.search(rf"^(\./)?{file}:\d+: (turned runs|recieved) ==>", output, re.MULTILINE), (
        output
    )


def test_quotes_formulas_and_code_are_left_alone(book):
    spared = [
        "The paper writes “small random initializations”.",
        "$recieved$ and `recieved` are no words.",
        CELL.format(alt="None.", code='"""Of turned runs."""', prose="None."),
        "```{code-cell} ipython3\nlearnt = 1\n```",
    ]
    for place, text in enumerate(spared):
        (book / "book" / f"{place}.md").write_text(f"{text}\n", encoding="utf-8")
    assert lint(book) == (0, "")


def test_every_word_is_one_for_the_pattern():
    pattern = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["codespell"]
    assert [word for word in WORDS if not re.fullmatch(pattern["regex"], word)] == []
    assert list(WORDS) == sorted(WORDS)
