"""Four natural texts of thirty million characters each, which have enough tokens for a head."""

import gzip
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from jaxtyping import Int

from . import DEBIAN, TEXTS, Source, pieces, unpacked

CHARACTERS = 30_000_000  # of a text, from its beginning
TABLES = {"leim", "language", "international"}  # folders of Emacs that list characters of scripts

SOURCES = {
    "kernel": Source(
        "all documentation of the Linux kernel", "linux-doc-6.1 6.1.192-2",
        "GPL-2.0, in part others", DEBIAN.format("linux-doc-6.1"),
        "3bb1c1a8c6746468dba784d35fab736358bdd759116a19eff3ce956c15ae6484",
    ),
    "dictionary": Source(
        "a dictionary of English", "dict-gcide 0.48.5+nmu2", "GPL-2.0 or later",
        DEBIAN.format("dict-gcide"),
        "dfc01744ae370d4f40000288b1aaa0995b603d9214e7c5b19bb8a7b51772bba1",
    ),
    "sympy": Source(
        "Python code of SymPy", "python3-sympy 1.11.1-1", "BSD-3-Clause",
        DEBIAN.format("python3-sympy"),
        "2bef0d61d9e93815ee135f478080cdeb5122d6f931996069fa95de99e5d22829",
    ),
    "emacs": Source(
        "Lisp code of Emacs", "emacs-el 1:28.2+1-15+deb12u4", "GPL-3.0 or later",
        DEBIAN.format("emacs-el"),
        "ddeba0f4e486369639a5da9ddc3743bf0d7de37de88b94ab3cfc61db458d68a2",
    ),
}  # fmt: skip


def tokens_of(name: str, vocabulary: int) -> Int[np.ndarray, " tokens"]:
    """A long text in tokens, all of which occur: bytes for a vocabulary of 256, else pieces.

    Raises:
        FileNotFoundError: where nobody has fetched the text.
        ValueError: for another version of it.
    """
    path = TEXTS / f"{name}.txt"
    if not path.is_file():
        raise FileNotFoundError(f"the text {path} is missing: python -m {__package__}")
    raw = path.read_bytes()
    checksum = hashlib.sha256(raw).hexdigest()
    if checksum != SOURCES[name].text_sha256:
        raise ValueError(f"{path} is another version of {SOURCES[name].title}: sha256 {checksum}")
    cut = np.frombuffer(raw, np.uint8) if vocabulary == 256 else pieces(raw.decode(), vocabulary)
    occurs = np.bincount(cut) > 0
    return (np.cumsum(occurs) - 1)[cut]


def joined(files: Iterable[Path]) -> str:
    """The beginning of files, one after the other, with one kind of line end."""
    whole, size = [], 0
    for path in files:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix in (".gz", ".dz") else raw
        whole.append(raw.decode("utf-8", "replace"))
        size += len(whole[-1]) + 1
        if size > CHARACTERS:
            break
    text = "\n".join(whole)[:CHARACTERS]
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _kernel(folder: Path) -> str:
    """The English sources and the descriptions of devices, in the order of their paths."""
    root = unpacked("linux-doc-6.1", folder) / "usr/share/doc/linux-doc-6.1/Documentation"
    kinds = ".rst.gz", ".txt.gz", ".yaml.gz"
    files = (p for p in sorted(root.rglob("*.gz")) if p.name.endswith(kinds))
    return joined(p for p in files if "translations" not in p.parts)


def _dictionary(folder: Path) -> str:
    return joined(unpacked("dict-gcide", folder).rglob("*.dict.dz"))


def _sympy(folder: Path) -> str:
    return joined(sorted(unpacked("python3-sympy", folder).rglob("*.py")))


def _emacs(folder: Path) -> str:
    files = sorted(unpacked("emacs-el", folder).rglob("*.el.gz"))
    return joined(path for path in files if TABLES.isdisjoint(path.parts))


READERS: dict[str, Callable[[Path], str]] = {
    "kernel": _kernel, "dictionary": _dictionary, "sympy": _sympy, "emacs": _emacs,
}  # fmt: skip
