"""A toy book of two chapters, with the configuration of the real one."""

import shutil
import subprocess
import time

import psutil

from bookbuild.execution.display import Display
from bookbuild.pipeline import build_book
from bookbuild.results import executed
from bookbuild.results.keys import chapter_key
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT

LINE, SQUARE = "paper/01_line", "beyond/01_square"


class Toy:
    """A toy book in a folder, with what the pipeline said about it."""

    def __init__(self, root):
        self.root = root
        self.lines: list[str] = []

    def settings(self, **changes):
        return BuildSettings(self.root, **({"jobs": 2, "short": 0.0} | changes))

    def heard(self):
        """Forget what was said, and return what notes what is said next."""
        self.lines.clear()
        return Display(self.lines.append), self.lines.append

    def build(self, **changes):
        return build_book(self.settings(**changes), *self.heard())

    def started(self):
        """Return the chapters that were executed in the last build."""
        ends = (line.partition(": ") for line in self.lines)
        return {name for name, _, how in ends if how.startswith(("done in ", "failed after "))}

    def key(self, name, **changes):
        return chapter_key(read_chapter(self.root, name), self.settings(**changes))

    def entry(self, name, **changes):
        """Return what is stored of a chapter, which must be there."""
        found, remark = executed.find(self.settings(**changes), self.key(name, **changes))
        assert found is not None, remark
        return found

    def append(self, name, code):
        """Append a cell to a chapter."""
        with (self.root / "book" / f"{name}.md").open("a", encoding="utf-8") as stream:
            stream.write(f"\n```{{code-cell}} ipython3\n{code}\n```\n")

    def edit(self, path, old, new):
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def git(self, *arguments):
        return git(self.root, *arguments)

    @staticmethod
    def ends(number, *, seconds):
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


def new_toy(root):
    """Return a toy book that has never been built."""
    shutil.copytree(ROOT / "bookbuild" / "tests" / "toy", root)
    shutil.copy(ROOT / "CITATION.cff", root)
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    named = config.replace('url: ""', "url: https://github.com/someone/toy", 1)
    plain = named.replace("html:\n  favicon: book/_static/favicon.svg\n", "")
    without = "".join(x for x in plain.splitlines(True) if not x.startswith("  evidence:"))
    (root / "_config.yml").write_text(without, encoding="utf-8")
    return Toy(root)


def git(folder, *arguments):
    """Return what git prints in a folder; CalledProcessError where it fails."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    order = ["git", *identity, *arguments]
    return subprocess.run(order, cwd=folder, check=True, capture_output=True, text=True).stdout
