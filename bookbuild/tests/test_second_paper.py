"""A second, tiny paper: the builder makes it as the page *A book of your own* says."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from bookbuild.results.store import Store
from bookbuild.settings import Settings
from bookbuild.source.book import read_book
from bookbuild.source.citation import paper, read_citation
from tools.this_book import ROOT, chapters, claims
from tools.toy_book import Command

GUIDE = ROOT / "book" / "your_own_book.md"
BLOCK = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)
BUILDER = ROOT / "bookbuild" / "src" / "bookbuild"


@pytest.fixture(scope="module")
def commands() -> list[str]:
    """The commands of the page; the last one serves the site and does not end."""
    lines = [
        line for block in BLOCK.findall(GUIDE.read_text("utf-8")) for line in block.split("\n")
    ]
    return [line for line in lines if line]


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """An environment in which nothing but the virtual environment leads to our sources."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def followed(
    tmp_path_factory: pytest.TempPathFactory, commands: list[str], environment: dict[str, str]
) -> tuple[Path, str]:
    """The book after all commands but the last, and what they printed."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "checkout").mkdir()
    for name, place in ((".venv", Path(sys.prefix)), *((n, ROOT / n) for n in ("book", "tests"))):
        (folder / "checkout" / name).symlink_to(place)
    run = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands[:-1])],
        cwd=folder / "checkout",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "my-book", run.stdout


@pytest.fixture(scope="module")
def address(
    followed: tuple[Path, str], commands: list[str], environment: dict[str, str]
) -> Iterator[str]:
    """Where the last command of the page serves the site."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    order = [sys.executable, "-u", *commands[-1].split()[1:], "--port", str(port)]
    with subprocess.Popen(
        order, cwd=followed[0], env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        try:
            assert f"http://127.0.0.1:{port}" in server.stdout.readline()
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def test_the_commands_of_the_page_say_what_they_did(followed: tuple[Path, str]) -> None:
    book, told = followed
    assert re.search(r"^distance_per_step = \[", told, re.MULTILINE)
    assert "6 runs computed" in told
    assert "3 chapters executed" in told
    assert "contradicted: return-is-certain (New results; § A return)" in told
    store = Store(Settings(book).results)
    kinds = [stored.kind for key in store.listed() if (stored := store.get(key)[0])]
    assert kinds.count("sweep") == 6  # the chapter found them, and computed none of its own


def test_its_claims_are_judged(followed: tuple[Path, str]) -> None:
    path = Settings(followed[0]).site / "data" / "ledger.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert {row["id"]: row["verdict"] for row in rows} == {
        "distance-is-the-number-of-steps": "reproduced",
        "distance-grows-linearly": "reproduced",
        "return-is-certain": "contradicted",
    }


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("index.html", "book/index.html"),
        ("book/index.html", "A walker gets as far as the root"),
        ("book/letter/01_distance.html", 'href="../reference.html#walks.steps.mean_squared'),
        ("book/letter/01_distance.html", '<span class="symbol symbol-1 math'),
        ("book/letter/02_growth.html", "The squared distance grows with the steps."),
        ("book/reference.html", 'id="walks.steps.mean_squared_distance"'),
        ("book/verdicts.html", "letter/01_distance.html#measure-distance_per_step"),
        ("figures/letter/02_growth/growth.svg", "<svg"),
    ],
)
def test_its_site_is_served(address: str, page: str, text: str) -> None:
    with urlopen(f"{address}/{page}") as answer:
        assert text in answer.read().decode()


def test_a_port_that_is_in_use_is_told(
    address: str, followed: tuple[Path, str], command: Command
) -> None:
    port = address.rpartition(":")[2]
    told = command(followed[0], "serve", "--port", port)
    assert told.startswith(f"Port {port} cannot be used: ")


def test_the_builder_names_nothing_of_this_book() -> None:
    """Neither its packages, its chapters and claims, nor what its paper is about."""
    packages = {path.name for path in (ROOT / "src").iterdir()} - {"running"}
    inner = {f"{p}.{path.stem}" for p in packages for path in (ROOT / "src" / p).glob("[a-z]*")}
    subject = {
        word for word in paper(read_citation(ROOT))["title"].lower().split() if len(word) > 8
    }
    names = {read_book(ROOT).package, *inner, *subject}
    names |= {chapter.name for chapter in chapters()} | claims().keys()
    assert {"chapters.paper", "emergence", "induction", "theorem-2-alpha"} <= names
    found = {
        f"{path.relative_to(BUILDER)}: {name}"
        for path in BUILDER.rglob("*.*")
        if path.suffix in (".py", ".json", ".html", ".md")
        for name in names
        if name in path.read_text(encoding="utf-8").lower()
    }
    assert found == set()
