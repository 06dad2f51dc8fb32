"""A toy book of two chapters, executed once; each test works on a copy of its own."""

import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from bookbuild.execution.display import PlainDisplay
from bookbuild.pipeline import Result, build_book
from bookbuild.reporting import report
from bookbuild.settings import Settings

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


class Toy:
    """A toy book in a folder, with what the pipeline said about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lines: list[str] = []

    def settings(self, **changes: object) -> Settings:
        return Settings(self.root, **({"jobs": 2} | changes))

    def build(self, **changes: object) -> Result:
        self.lines.clear()
        display = PlainDisplay(self.lines.append)
        return build_book(self.settings(**changes), display, self.lines.append)

    def started(self) -> set[str]:
        """Return the chapters that were executed in the last build."""
        return {line.removesuffix(": started") for line in self.lines if line.endswith(": started")}

    def append(self, name: str, code: str) -> None:
        """Append a cell to a chapter."""
        with (self.root / "book" / f"{name}.md").open("a", encoding="utf-8") as stream:
            stream.write(f"\n```{{code-cell}} ipython3\n{code}\n```\n")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    @staticmethod
    def ends(number: int, *, seconds: float) -> bool:
        """Return whether a process ends in time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if psutil.Process(number).status() == psutil.STATUS_ZOMBIE:
                    return True
            except psutil.NoSuchProcess:
                return True
            time.sleep(0.02)
        return False


def new_toy(root: Path) -> Toy:
    """Return a toy book that has never been built, with the configuration of the real one."""
    shutil.copytree(HERE / "toy", root)
    for name in ("_config.yml", "CITATION.cff"):
        shutil.copy(REPOSITORY / name, root)
    shutil.copytree(REPOSITORY / "book" / "_static", root / "book" / "_static")
    return Toy(root)


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Toy, Result]:
    """The toy book, built with its site; for reading only."""
    toy = new_toy(tmp_path_factory.mktemp("built") / "toy")
    return toy, toy.build()


@pytest.fixture
def unbuilt(tmp_path: Path) -> Toy:
    """A toy book that has never been built."""
    return new_toy(tmp_path / "unbuilt")


@pytest.fixture
def toy(built_once: tuple[Toy, Result], tmp_path: Path) -> Toy:
    """A copy of the toy book after its first build."""
    root = tmp_path / "toy"
    shutil.copytree(built_once[0].root, root)
    return Toy(root)


@pytest.fixture
def without_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave Sphinx out of the build, for tests of what comes before it."""
    monkeypatch.setattr("bookbuild.pipeline.build_site", lambda *_: None)


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh output folder for report and show, as in a chapter that bookbuild executes."""
    monkeypatch.setenv(report.OUTPUT, str(tmp_path))
    monkeypatch.setattr(report, "_measures", {})
    return tmp_path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Run the command line in a folder and return the text it exits with, empty if all is well."""
    from bookbuild.cli import main

    handler = signal.getsignal(signal.SIGTERM)

    def run(root: Path, *arguments: str) -> str:
        monkeypatch.chdir(root)
        monkeypatch.setattr("sys.argv", ["bookbuild", *arguments])
        try:
            main()
        except SystemExit as end:
            return str(end.code)
        return ""

    yield run
    signal.signal(signal.SIGTERM, handler)
