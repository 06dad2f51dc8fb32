"""Texts in tokens: synthetic ones, and four natural ones with where they come from.

None of the natural ones is in this repository. The command
`python -m chapters.beyond.clock_of_a_corpus.corpora` fetches them with Debian's `apt-get` and
`dpkg-deb`, and the checksum of a text is tested before it is used. The pages of the book need no
text, because they read stored counts and runs.
"""

import gzip
import hashlib
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int

LENGTH = 512  # tokens of one piece; nothing is remembered from one to the next
TEXT_TOKENS, TEXT_SEED = 2**21, 0  # of made-up texts
UNTAUGHT_TOKENS = 2**20
CHAIN = 4096  # tokens of a null that depend on one another


@dataclass(frozen=True)
class Synthetic:
    """A text of equally frequent tokens whose bigrams are told by its recent past alone."""

    vocabulary: int  # number of tokens V
    repeats: float  # chance that a token is drawn from the last ones instead of from all
    # chance that a token which is among the last ones is followed as it was there
    reliability: float
    memory: int = 64  # how many tokens the last ones are

    def text(self, tokens: int, *, seed: int) -> Int[np.ndarray, " tokens"]:
        """So many tokens of it, a multiple of 512."""
        pieces = tokens // LENGTH
        stream = np.random.default_rng(seed)
        every = np.arange(pieces)
        found = np.zeros((pieces, LENGTH), np.int64)
        found[:, 0] = stream.integers(self.vocabulary, size=pieces)
        for t in range(1, LENGTH):
            first = max(0, t - self.memory)
            fresh = stream.integers(self.vocabulary, size=pieces)
            recent = found[every, stream.integers(first, t, size=pieces)]
            chosen = np.where(stream.random(pieces) < self.repeats, recent, fresh)
            same = found[:, first : t - 1] == found[:, t - 1 : t]
            if same.shape[1]:
                last = same.shape[1] - 1 - same[:, ::-1].argmax(axis=1)
                follows = same.any(axis=1) & (stream.random(pieces) < self.reliability)
                chosen = np.where(follows, found[every, first + last + 1], chosen)
            found[:, t] = chosen
        return found.ravel()


TEXTS = Path.home() / ".cache" / "emergence-texts"
CHARACTERS = 30_000_000  # of a text, from its beginning
PIECE = 10_000  # characters that are tokenised at once
TABLES = {"leim", "language", "international"}  # folders of Emacs that list characters of scripts


@dataclass(frozen=True)
class Natural:
    """A natural text."""

    name: str  # as in `SOURCES`
    vocabulary: int  # 256 for bytes, else pieces of words asked for


# All tokens in random order, and again in another; or a Markov chain, whose table of successors
# knows all there is to know.
UntaughtKind = Literal["deck", "chain"]


@dataclass(frozen=True)
class Untaught:
    """A text in which what followed a token before says nothing good of what follows it now."""

    kind: UntaughtKind
    vocabulary: int  # number of tokens V
    seed: int

    def text(self, tokens: int) -> Int[np.ndarray, " tokens"]:
        """So many tokens of it, a multiple of V."""
        stream, size = np.random.default_rng(self.seed), self.vocabulary
        if self.kind == "deck":
            return stream.permuted(np.tile(np.arange(size), (tokens // size, 1)), axis=1).ravel()
        table = np.cumsum(stream.dirichlet(np.full(size, 0.2), size=size), axis=1)
        rows = np.empty((size, tokens // size), np.int64)  # V chains side by side
        rows[:, 0] = np.arange(size)
        for place in range(1, rows.shape[1]):
            chance = stream.random(size)[:, None]
            rows[:, place] = (table[rows[:, place - 1]] < chance).sum(axis=1).clip(max=size - 1)
        return rows.ravel()


Text = Synthetic | Natural | Untaught


@dataclass(frozen=True)
class Source:
    """Where a text comes from."""

    title: str  # what it is
    package: str  # name of a Debian package
    version: str  # of this package
    licence: str  # of the text
    text_sha256: str  # checksum of the text that is split into tokens

    @property
    def command(self) -> str:
        """What fetches the package and unpacks it."""
        return f"apt-get download {self.package} && dpkg-deb -x {self.package}_*.deb {self.package}"


SOURCES = {
    "kernel": Source(
        "all documentation of the Linux kernel", "linux-doc-6.1", "6.1.192-2",
        "GPL-2.0, in part others",
        "3bb1c1a8c6746468dba784d35fab736358bdd759116a19eff3ce956c15ae6484",
    ),
    "dictionary": Source(
        "a dictionary of English", "dict-gcide", "0.48.5+nmu2", "GPL-2.0 or later",
        "dfc01744ae370d4f40000288b1aaa0995b603d9214e7c5b19bb8a7b51772bba1",
    ),
    "sympy": Source(
        "Python code of SymPy", "python3-sympy", "1.11.1-1", "BSD-3-Clause",
        "2bef0d61d9e93815ee135f478080cdeb5122d6f931996069fa95de99e5d22829",
    ),
    "emacs": Source(
        "Lisp code of Emacs", "emacs-el", "1:28.2+1-15+deb12u4", "GPL-3.0 or later",
        "ddeba0f4e486369639a5da9ddc3743bf0d7de37de88b94ab3cfc61db458d68a2",
    ),
}  # fmt: skip


def text_tokens(text: Text) -> Int[np.ndarray, " tokens"]:
    """A text in tokens, all of which occur."""
    if isinstance(text, Natural):
        return tokens_of(text.name, text.vocabulary)
    if isinstance(text, Untaught):
        return text.text(UNTAUGHT_TOKENS)
    return text.text(TEXT_TOKENS, seed=TEXT_SEED)


def null(tokens: Int[np.ndarray, " tokens"], *, seed: int = 0) -> Int[np.ndarray, " null"]:
    """A text with the same successors and nothing else: each token draws its next one anew.

    It is a multiple of 4,096 tokens long, at most as long as the text.
    """
    order = np.argsort(tokens.astype(np.uint16), kind="stable")  # short numbers sort at once
    counts = np.bincount(tokens)
    first, following = np.cumsum(counts) - counts, np.roll(tokens, -1)
    stream = np.random.default_rng(seed)
    chains = len(tokens) // CHAIN
    rows = np.empty((chains, CHAIN), np.int64)
    now = stream.choice(tokens, chains)
    for place in range(CHAIN):
        rows[:, place] = now
        drawn = first[now] + (stream.random(chains) * counts[now]).astype(np.int64)
        now = following[order[drawn]]
    return rows.ravel()


def tokens_of(name: str, vocabulary: int) -> Int[np.ndarray, " tokens"]:
    """A text in tokens, all of which occur: bytes for a vocabulary of 256, else pieces.

    Raises FileNotFoundError where nobody has fetched it, ValueError for another version of it.
    """
    path = TEXTS / f"{name}.txt"
    if not path.is_file():
        raise FileNotFoundError(f"the text {path} is missing: python -m {__name__}")
    raw = path.read_bytes()
    checksum = hashlib.sha256(raw).hexdigest()
    if checksum != SOURCES[name].text_sha256:
        raise ValueError(f"{path} is another version of {SOURCES[name].title}: sha256 {checksum}")
    cut = np.frombuffer(raw, np.uint8) if vocabulary == 256 else pieces(raw.decode(), vocabulary)
    occurs = np.bincount(cut) > 0
    return (np.cumsum(occurs) - 1)[cut]


def pieces(text: str, vocabulary: int) -> Int[np.ndarray, " tokens"]:
    """A text in pieces of words, by byte-pair encoding of the text itself.

    Raises ModuleNotFoundError without `make env EXTRAS=language`.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    parts = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        parts,
        trainers.BpeTrainer(vocab_size=vocabulary, show_progress=False, initial_alphabet=alphabet),
    )
    return np.concatenate([np.array(part.ids) for part in tokenizer.encode_batch(parts)])


def fetch() -> None:
    """Fetch all texts that are not there yet into ~/.cache/emergence-texts."""
    TEXTS.mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        path = TEXTS / f"{name}.txt"
        if not path.is_file():
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(source.command, shell=True, cwd=folder, check=True)
                text = joined(files_of(name, Path(folder) / source.package))
            path.write_text(text, encoding="utf-8")
        print(f"{path}: sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


def files_of(name: str, folder: Path) -> list[Path]:
    """The files of an unpacked package that make up a text, in their order."""
    if name == "kernel":  # the English sources and the descriptions of devices
        inside = folder / "usr/share/doc/linux-doc-6.1/Documentation"
        kinds = ".rst.gz", ".txt.gz", ".yaml.gz"
        files = [path for path in sorted(inside.rglob("*.gz")) if path.name.endswith(kinds)]
        return [path for path in files if "translations" not in path.parts]
    if name == "emacs":
        files = sorted(folder.rglob("*.el.gz"))
        return [path for path in files if TABLES.isdisjoint(path.parts)]
    return sorted(folder.rglob("*.dict.dz" if name == "dictionary" else "*.py"))


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


if __name__ == "__main__":
    fetch()
