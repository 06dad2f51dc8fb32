"""Bigram counts of tiny Shakespeare: how often one character follows another."""

import hashlib
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

TEXT_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
COUNTS_SHA256 = "4c9f51b74c15f6431185889cafe70245843c76bf57cdd248ebb320861f2cc0c7"


class Bigrams(NamedTuple):
    """How often the second character followed the first; rows are first characters."""

    characters: str
    counts: Int[np.ndarray, "N N"]

    @property
    def unigram(self) -> Float[np.ndarray, " N"]:
        """Probabilities of a character, the text's last one left out."""
        return self.counts.sum(axis=1) / self.counts.sum()

    @property
    def conditional(self) -> Float[np.ndarray, "N N"]:
        """pi_b: probabilities of the next character, a row for each character."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    @property
    def entropy(self) -> float:
        """Mean entropy of the next character, in nats."""
        share = self.counts / self.counts.sum()
        seen = self.counts > 0
        return float(-(share[seen] * np.log(self.conditional[seen])).sum())

    @property
    def sha256(self) -> str:
        """The checksum of the written counts."""
        return hashlib.sha256(write(self).encode()).hexdigest()

    def most_frequent(self, count: int) -> Int[np.ndarray, " count"]:
        """The numbers of the most frequent characters, most frequent first."""
        return np.argsort(-self.unigram, kind="stable")[:count]


def count(text: str) -> Bigrams:
    """Count the bigrams of a text; its characters are numbered in order of their code points."""
    characters = "".join(sorted(set(text)))
    number = {character: i for i, character in enumerate(characters)}
    numbers = np.array([number[character] for character in text])
    counts = np.zeros((len(characters), len(characters)), dtype=np.int64)
    np.add.at(counts, (numbers[:-1], numbers[1:]), 1)
    return Bigrams(characters, counts)


def write(bigrams: Bigrams) -> str:
    """Comma-separated values: a line of code points, then the rows of the counts."""
    rows = [[ord(character) for character in bigrams.characters], *bigrams.counts.tolist()]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def read(written: str, *, sha256: str | None = COUNTS_SHA256) -> Bigrams:
    """The reverse of `write`; ValueError for another checksum than the expected one, if any."""
    checksum = hashlib.sha256(written.encode()).hexdigest()
    if sha256 is not None and checksum != sha256:
        raise ValueError(f"the bigram counts have the checksum {checksum}, expected {sha256}")
    codes, *rows = ([int(value) for value in line.split(",")] for line in written.splitlines())
    return Bigrams("".join(map(chr, codes)), np.array(rows))
