"""Every descent of every chapter killed at a random step: python -m tools.resume [chapter ...].

Each chapter is executed twice in the smoke profile. The first time every loop is followed, and its
state is kept as after a random step and as at its end. The second time every loop begins with the
state of the random step, as after a kill, and must end with the same bits; so must all measures
that are judged.
Prints a row a chapter and ends with 1 if anything is lost.
"""

import argparse
import contextlib
import hashlib
import io
import multiprocessing
import os
import random
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from bookbuild.results.values import from_files, to_files
from bookbuild.source.chapters import Chapter, read_chapter
from running import cache
from tools.this_book import ROOT, chapters

Files = dict[str, bytes]


@dataclass
class Follower(cache.Cache):
    """Keeps a random state of every loop, and a digest of the last; `resuming` gives it back."""

    draw: random.Random
    resuming: bool = False
    states: dict[str, Files | None] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def checkpoint(self, task: cache.Task) -> cache.Checkpoint:
        return Followed(self, repr(task))


class Followed(cache.Checkpoint):
    """One loop."""

    def __init__(self, follower: Follower, name: str) -> None:
        self.follower, self.name, self.seen = follower, name, 0

    def load(self) -> dict[str, Any] | None:
        if not self.follower.resuming:
            self.follower.states[self.name] = None
            return None
        state = self.follower.states[self.name]
        return from_files(state) if state is not None else None  # a loop of one step

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        follower = self.follower
        if ended:
            found = digest(to_files(state()))
            if follower.ends.setdefault(self.name, found) != found:
                follower.lost.append(f"ends in other bits: {self.name}")
            return
        self.seen += 1
        # the n-th step takes the place of the one kept so far with probability 1/n
        if not follower.resuming and follower.draw.randrange(self.seen) == 0:
            follower.states[self.name] = to_files(state())


def digest(files: Files) -> str:
    """A checksum of a state."""
    found = hashlib.sha256()
    for name in sorted(files):
        found.update(name.encode() + files[name])
    return found.hexdigest()


def executed(chapter: Chapter, profile: str, device: str = "cpu") -> dict[str, Any]:
    """The judged measures of a chapter whose cells are run in this process."""
    from matplotlib import pyplot

    from bookbuild.reporting import notebook

    notebook._measures.clear()
    names: dict[str, Any] = {"__name__": "chapter"}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in chapter.code:
            exec(compile(cell.source, chapter.name, "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"profile": profile, "device": device, "seed": 0}
    pyplot.close("all")
    # measures that are not judged may be times, which no two executions share
    return {key: m["value"] for key, m in notebook._measures.items() if m["judged"]}


def tried(name: str) -> tuple[str, int, list[str]]:
    """Execute a chapter twice; its name, its number of loops, and what was lost."""
    import matplotlib
    import torch

    matplotlib.use("Agg")
    torch.set_num_threads(1)
    os.chdir(ROOT)
    chapter = read_chapter(ROOT, name)
    follower = Follower(random.Random(name))
    with tempfile.TemporaryDirectory() as folder, cache.attached(follower):
        os.environ["BOOKBUILD_OUTPUT"] = folder
        once = executed(chapter, "smoke")
        if follower.states:
            follower.resuming = True
            again = executed(chapter, "smoke")
            follower.lost += [
                f"measure {key}" for key in once if repr(once[key]) != repr(again[key])
            ]
    return name, len(follower.states), follower.lost


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*")
    names = parser.parse_args().chapters or [c.name for c in chapters() if c.code]
    pool = ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))
    loops = failures = 0
    with pool:
        for name, count, lost in pool.map(tried, names):
            print(f"{name}: {count} loops, {len(lost)} lost", *lost, sep="\n  ", flush=True)
            loops, failures = loops + count, failures + len(lost)
    print(f"{len(names)} chapters, {loops} loops killed and resumed, {failures} lost")
    return 1 if failures or not loops else 0


if __name__ == "__main__":
    sys.exit(main())
