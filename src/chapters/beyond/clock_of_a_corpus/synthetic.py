"""Synthetic texts with a chosen frequency and reliability of repeated bigrams."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

LENGTH = 512  # tokens of one piece; nothing is remembered from one to the next


@dataclass(frozen=True)
class Synthetic:
    """A text whose tokens are equally frequent and whose bigrams are told by its recent past alone.

    Attributes:
        vocabulary: number of tokens V.
        repeats: chance that a token is drawn from the last ones instead of from all.
        reliability: chance that a token which is among the last ones is followed as it was there.
        memory: how many tokens the last ones are.
    """

    vocabulary: int
    repeats: float
    reliability: float
    memory: int = 64

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
