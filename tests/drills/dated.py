"""Date stored runs: which of them the code of today would make, by the history.

cd tests && PYTHONPATH=../src python -m drills.dated [--until COMMIT]

An entry without a digest of its code names the commit that added it. The sources of that commit are
unpacked, and what the computation reaches there is compared with what it reaches today. The
functions that write an entry down were other ones then, and tests hold them to the stored values;
so the functions below are compared, which do the computing. Where none of them has changed, the
entry gets today's digest and is current. Otherwise it gets the digest of the code then, which is
another than today's. Where a function had another name the digest stays unknown.
"""

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from bookbuild.execution.runs import REGISTRY, File
from bookbuild.results.keys import code_of
from bookbuild.results.store import write_whole
from running.records import Entry, written
from this_book import ROOT

COMPANIONS = "chapters.companions"
COMPUTING = {
    "token_grid": ["chapters.beyond.real_transformers.token_grid.cells:run"],
    "associative_memories": [
        f"{COMPANIONS}.associative_memories.capacity:linear_capacity",
        f"{COMPANIONS}.associative_memories.limits:expected_pairs",
    ],
    "birth": [
        f"{COMPANIONS}.birth.training:train",
        f"{COMPANIONS}.birth.attention:RecallsAndFocus",
        f"{COMPANIONS}.birth.runs.generic:train",
        f"{COMPANIONS}.birth.runs.cells:accuracies",
        f"{COMPANIONS}.birth.tables:tables",
    ],
    "distributional": [
        f"{COMPANIONS}.distributional.training:train",
        f"{COMPANIONS}.distributional.probes:table",
        f"{COMPANIONS}.distributional.probes:pushes",
        f"{COMPANIONS}.distributional.probes:spectrum",
    ],
    "factual_recall": [f"{COMPANIONS}.factual_recall.trials:run"],
    "grokking": [
        f"{COMPANIONS}.grokking.direction:measure_updates",
        f"{COMPANIONS}.grokking.training:train",
        f"{COMPANIONS}.grokking.first_layer:simulate",
        f"{COMPANIONS}.grokking.fourier:cosines",
        f"{COMPANIONS}.grokking.fourier:overlaps",
    ],
    "k_hop": [f"{COMPANIONS}.k_hop.phases:measure"],
    "language": [
        f"{COMPANIONS}.retrieval.language:right_answers",
        f"{COMPANIONS}.retrieval.language:load",
        f"{COMPANIONS}.retrieval.language_study:study_heads",
        f"{COMPANIONS}.retrieval.language_study:without",
        f"{COMPANIONS}.retrieval.silencing:cuts",
    ],
}


def dated(
    entries: Iterable[Entry], today: str, digest: Callable[[str | None], str | None]
) -> list[Entry]:
    """Return the entries, each without a digest with the one that its commit gives it.

    Args:
        entries: of one file.
        today: digest of the declared function.
        digest: of what computes at a commit, None for the working tree; None where a function
            was not there.
    """
    now = digest(None)

    def of(entry: Entry) -> Entry:
        if entry.code is not None or entry.commit is None:
            return entry
        then = digest(entry.commit)
        return entry._replace(code=today if then == now else then)

    return [of(entry) for entry in entries]


def digest_at(
    names: Iterable[str], folder: Path, commit: str | None, until: str | None = None
) -> str | None:
    """Return one digest of functions at a commit, unpacked once below a folder.

    Without a commit it is that of `until`, and without that of the working tree.
    """
    src, commit = ROOT / "src", commit or until
    if commit is not None:
        src = folder / commit / "src"
        if not src.is_dir():
            git = ["git", "-C", str(ROOT), "archive", commit, "src"]
            archive = subprocess.run(git, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
                packed.extractall(folder / commit, filter="data")
    digests = []
    for name in names:
        module, _, function = name.partition(":")
        if not defines(src, module, function):
            return None
        digests.append(code_of(module, function, src))
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:32]


def defines(src: Path, module: str, name: str) -> bool:
    """Return whether a module is there and defines a function or a class."""
    path = src.joinpath(*module.split(".")).with_suffix(".py")
    if not path.is_file():
        return False
    lines = path.read_text(encoding="utf-8").splitlines()
    return any(
        line.startswith((f"def {name}(", f"class {name}(", f"class {name}:")) for line in lines
    )


def main() -> int:
    """Date the entries of every file, and print how many are current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--until", help="commit whose code stands for today's: a full build has "
                        "shown that what was edited since changes no number")  # fmt: skip
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in REGISTRY:
            file = File(name, ROOT, ROOT / "src")
            digest = partial(digest_at, COMPUTING[file.path.stem], Path(folder), until=asked.until)
            entries = dated(file.entries.values(), file.code, digest)
            write_whole(file.path, written(entries).encode())
            codes = [entry.code for entry in entries]
            current, unknown = codes.count(file.code), codes.count(None)
            print(f"{name}: {current} of {len(codes)} by today's code, {unknown} by unknown code")
    return 0


if __name__ == "__main__":
    sys.exit(main())
