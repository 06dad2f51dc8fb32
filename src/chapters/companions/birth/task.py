"""The bigram task: Shakespeare with five triggers that have a new successor in every sequence.

Triggers are the most frequent characters, or drawn anew for each sequence. Baselines are guesses
that match no trigger with its earlier occurrence.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

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


class BigramTask(NamedTuple):
    """What sequences are drawn from; probabilities are cumulated."""

    start: Float[Tensor, " N"]
    chain: Float[Tensor, " N*N"]  # row i is shifted to the interval from i to i + 1
    triggers: Int[Tensor, " k"]  # all tokens that may be one
    n_drawn: int = 0  # how many of them each sequence draws, by frequency; 0: it has them all

    @property
    def n_tokens(self) -> int:
        """N, the size of the vocabulary."""
        return len(self.start)

    @property
    def frequency(self) -> Float[Tensor, " N"]:
        """Probabilities of a token at the start of a sequence."""
        return self.start.diff(prepend=self.start.new_zeros(1))


class Batch(NamedTuple):
    """Sequences z_1 ... z_T, what follows each token, and which of it can be known."""

    tokens: Int[Tensor, "batch T"]
    targets: Int[Tensor, "batch T"]
    scored: Bool[Tensor, "batch T"]  # a trigger that has occurred in the sequence before


def make(
    bigrams: Bigrams,
    n_triggers: int,
    device: torch.device | None = None,
    *,
    random_triggers: bool = False,
) -> BigramTask:
    """The task whose triggers are the most frequent characters, in the order of their numbers.

    With `random_triggers` any character may be one, and each sequence draws its own.
    """
    rows = torch.from_numpy(bigrams.conditional.cumsum(axis=1))
    rows[:, -1] = 1  # rounding must not leave a gap at the end of a row
    shifted = rows + torch.arange(len(rows))[:, None]
    start = torch.from_numpy(bigrams.unigram.cumsum())
    n_known = len(rows) if random_triggers else n_triggers
    triggers = torch.from_numpy(bigrams.most_frequent(n_known)).sort().values
    n_drawn = n_triggers if random_triggers else 0
    return BigramTask(start.to(device), shifted.flatten().to(device), triggers.to(device), n_drawn)


def sample(task: BigramTask, batch_size: int, length: int, *, generator: torch.Generator) -> Batch:
    """Draw sequences: after trigger q_k comes its o_k, uniform and fixed within a sequence.

    After any other token comes pi_b. The first token is drawn by frequency, and so are the triggers
    of a sequence that has its own, without replacement.
    """
    n, device = task.n_tokens, generator.device
    make: dict[str, Any] = {"generator": generator, "device": device}
    triggers = task.triggers.expand(batch_size, -1)
    if task.n_drawn:
        frequency = task.frequency[task.triggers].expand(batch_size, -1)
        drawn = torch.multinomial(frequency, task.n_drawn, generator=generator)
        triggers = triggers.gather(1, drawn)
    outputs = torch.full((batch_size, n), -1, device=device)
    outputs.scatter_(1, triggers, torch.randint(n, triggers.shape, **make))
    uniform = torch.rand(length + 1, batch_size, dtype=torch.float64, **make)
    z = torch.empty(length + 1, batch_size, dtype=torch.long, device=device)
    z[0] = torch.searchsorted(task.start, uniform[0]).clamp(max=n - 1)
    for t in range(length):
        follower = torch.searchsorted(task.chain, uniform[t + 1] + z[t], right=True) - n * z[t]
        output = outputs.gather(1, z[t][:, None]).squeeze(1)
        z[t + 1] = torch.where(output >= 0, output, follower.clamp(0, n - 1))
    tokens = z[:-1].T.contiguous()
    return Batch(tokens, z[1:].T.contiguous(), seen_before(tokens, triggers))


def rows_of(
    chosen: Bool[Tensor, "batch T"],
) -> tuple[Int[Tensor, "batch R"], Bool[Tensor, "batch R"]]:
    """Chosen positions of each sequence, padded to the greatest number; and which are real."""
    longest = max(1, int(chosen.sum(dim=1).max()))
    at = (~chosen).to(torch.int8).argsort(dim=1, stable=True)[:, :longest]
    return at, chosen.gather(1, at)


def seen_before(
    tokens: Int[Tensor, "batch T"], triggers: Int[Tensor, "#batch k"]
) -> Bool[Tensor, "batch T"]:
    """Where a trigger of its sequence stands that has occurred in the sequence before."""
    hits = tokens[..., None] == triggers[:, None]
    return (hits & (hits.cumsum(dim=1) >= 2)).any(dim=-1)


class Baselines(NamedTuple):
    """Accuracies at scored positions; the definitions are ours."""

    frequent: float  # the token most frequent in the sequence so far
    excess: float  # the token most above its frequency in Shakespeare, in standard deviations
    bigram: float  # the likeliest successor of the trigger in Shakespeare


def baselines(task: BigramTask, bigrams: Bigrams, batch: Batch) -> Baselines:
    """Accuracies of three guesses."""
    # whole numbers add up to the same on every device, in whatever order
    counts = one_hot(batch.tokens, task.n_tokens).cumsum(dim=1).to(torch.float64)
    frequency = torch.from_numpy(bigrams.unigram).to(counts)
    conditional = torch.from_numpy(bigrams.conditional).to(counts)
    expected = torch.arange(1, counts.shape[1] + 1).to(counts)[:, None] * frequency

    def accuracy(scores: Float[Tensor, "batch T N"]) -> float:
        return float((scores.argmax(dim=-1) == batch.targets)[batch.scored].double().mean())

    return Baselines(
        accuracy(counts),
        accuracy((counts - expected) / expected.sqrt()),
        accuracy(conditional[batch.tokens]),
    )
