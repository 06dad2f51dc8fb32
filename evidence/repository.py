"""The history of a repository: the order of its commits, and the texts of their files."""

import subprocess
from collections.abc import Iterable, Mapping
from functools import reduce
from io import BytesIO
from operator import or_
from pathlib import Path

from bookbuild.errors import BookError

WORKTREE = "the working tree"


class History:
    """The commits that lead to HEAD, parents before children, and the working tree as the last.

    `patterns` are git's for paths, such as `book/*.md`, in which the star also stands for folders.
    Every version of a file is read once. Raises BookError where the history is not whole.
    """

    def __init__(self, root: Path, *patterns: str) -> None:
        if _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
            raise BookError("The history of this clone is cut off: run git fetch --unshallow.")
        lines = _git(root, "rev-list", "--topo-order", "--reverse", "--parents", "HEAD").decode()
        listed = (line.split() for line in lines.splitlines())
        self.parents = {commit: tuple(parents) for commit, *parents in listed}
        trees = _trees(root, self.parents, patterns)
        texts = _texts(root, list({blob for tree in trees.values() for blob in tree.values()}))
        self.files: dict[str, Mapping[str, str]] = {  # the texts of a commit by their paths
            commit: {path: texts[tree[path]] for path in sorted(tree)}
            for commit, tree in trees.items()
        }
        self.parents[WORKTREE] = (_git(root, "rev-parse", "HEAD").decode().strip(),)
        self.files[WORKTREE] = _present(root, patterns)
        self._places = {commit: place for place, commit in enumerate(self.parents)}
        self._older: dict[str, int] = {}  # of each commit its ancestors, a bit for each
        for commit, parents in self.parents.items():
            bits = (self._older[parent] | 1 << self._places[parent] for parent in parents)
            self._older[commit] = reduce(or_, bits, 0)

    def follows(self, commit: str, others: Iterable[str]) -> bool:
        """Whether one of the others is an ancestor of a commit."""
        return any(self._older[commit] >> self._places[other] & 1 for other in others)


def _present(root: Path, patterns: Iterable[str]) -> dict[str, str]:
    """The texts of the working tree, files that git does not know yet among them."""
    order = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
    listed = sorted({*_git(root, *order).decode().split("\0")} - {""})
    return {p: (root / p).read_bytes().decode() for p in listed if (root / p).is_file()}


def _trees(
    root: Path, parents: Mapping[str, tuple[str, ...]], patterns: Iterable[str]
) -> dict[str, dict[str, str]]:
    """The names that git gives to the files of each commit, from what differs to its parent."""
    request = "".join(" ".join([commit, *older[:1]]) + "\n" for commit, older in parents.items())
    order = ("diff-tree", "--stdin", "--root", "--always", "-r", "--no-renames", "--", *patterns)
    trees: dict[str, dict[str, str]] = {}
    for line in _git(root, *order, given=request).decode().splitlines():
        if not line.startswith(":"):
            tree = trees[line] = dict(trees[parents[line][0]]) if parents[line] else {}
            continue
        about, path = line.split("\t")
        _, mode, _, blob, _ = about.split()
        tree.pop(path, None)
        if mode.startswith("100"):  # a file, and no link
            tree[path] = blob
    return trees


def _texts(root: Path, blobs: Iterable[str]) -> dict[str, str]:
    """The texts of files by the names that git gives them."""
    request = "".join(f"{blob}\n" for blob in blobs)
    stream = BytesIO(_git(root, "cat-file", "--batch", given=request))
    sizes = ((blob, int(stream.readline().split()[2])) for blob in blobs)
    return {blob: stream.read(size + 1)[:-1].decode() for blob, size in sizes}


def _git(root: Path, *order: str, given: str = "") -> bytes:
    """What git prints; BookError, with what it says, where it fails."""
    command = ["git", "-c", "core.quotePath=false", *order]
    done = subprocess.run(command, cwd=root, input=given.encode(), capture_output=True, check=False)
    if done.returncode:
        raise BookError(f"git {order[0]} in {root}: {' '.join(done.stderr.decode().split())}")
    return done.stdout
