"""A disk of 2 MB: everything that was acknowledged stays, and one sentence tells the rest."""

import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bookbuild.errors import BookError
from bookbuild.results.store import Store
from tools.faults.row import Row
from tools.this_book import ROOT

SIZE = 2_000_000


def full(writes: int, folder: Path, dice: random.Random) -> Row:
    """Write results until nothing more fits, and build a book there."""
    row = Row("a disk of 2 MB that is full")
    values = np.random.default_rng(dice.randrange(2**32))
    with _small_disk(folder) as kind:
        toy = ROOT / "tests" / "bookbuild" / "toy"
        shutil.copytree(toy, folder / "toy")
        shutil.copy(ROOT / "_config.yml", folder / "toy")
        store = Store(folder / "results")
        kept: dict[str, bytes] = {}
        for number in range(writes):
            key, content = f"{number:032x}", values.bytes(dice.randrange(SIZE // 4, SIZE // 2))
            row.tried += 1
            try:
                store.put(key, "sweep", "x", {}, {"x": content})
                kept[key] = content
            except BookError as error:
                told = str(error)
                one_sentence = told.startswith("The result of x could not be kept: ")
                row.noticed += one_sentence and "\n" not in told
                row.check(one_sentence, told)
        row.check(0 < len(kept) < writes, "the disk was never full, or always")
        for key, content in kept.items():
            stored, _ = store.get(key)
            row.check(stored is not None and stored.files["x"] == content, f"{key} is lost")
        row.check(store.listed() == sorted(kept), "something half-written is left")
        row.check(not list(store.folder.glob(".*.part")), "a part is left")
        _build(folder, row)
    row.noticed += len(kept)  # what fitted was there to be read
    row.remark = f"{kind}; {len(kept)} results fitted, a build told why it could not go on"
    return row


def _build(folder: Path, row: Row) -> None:
    """Build the toy book where there is no room for it."""
    (folder / "ballast").write_bytes(b"")
    with (folder / "ballast").open("ab", buffering=0) as stream:
        try:
            while stream.write(bytes(4096)) == 4096 and stream.tell() < SIZE:
                pass
        except OSError:
            pass
    done = subprocess.run(
        [sys.executable, "-m", "bookbuild", "build", "--device", "cpu"],
        cwd=folder / "toy",
        capture_output=True,
        text=True,
        check=False,
    )
    row.tried += 1
    row.noticed += done.returncode != 0
    row.check(done.returncode != 0, "a build without room ends well")
    row.check("Traceback" not in done.stderr, f"a traceback: {done.stderr[-300:]}")


@contextmanager
def _small_disk(folder: Path) -> Iterator[str]:
    """Mount a disk of 2 MB where that is allowed; elsewhere limit files to half of it."""
    folder.mkdir(parents=True)
    order = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    mounted = subprocess.run(order, capture_output=True, check=False).returncode == 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if not mounted:
        resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE // 4, before[1]))
    try:
        yield "tmpfs" if mounted else "a limit of 0.5 MB a file, for this user cannot mount a disk"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
