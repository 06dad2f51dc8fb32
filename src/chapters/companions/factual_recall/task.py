"""The factual recall task: a subject, a relation and noise in random order, and an end token."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Facts:
    """S subjects, R relations, D possible answers to each relation; sequences of length T.

    Tokens in this order: subjects, relations, noise, end. Answers of relation r are numbered from
    r D. Raises ValueError for a size that is too small.
    """

    subjects: int = 16
    relations: int = 4
    answers: int = 8
    noise: int = 20
    length: int = 32

    def __post_init__(self) -> None:
        if min(self.subjects, self.relations, self.answers, self.noise, self.length - 2) < 1:
            raise ValueError(f"every size must be at least 1, and the length 3, got {self}")

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return self.subjects + self.relations + self.noise + 1

    @property
    def outputs(self) -> int:
        """Number of answers, R D."""
        return self.relations * self.answers


class Sequences(NamedTuple):
    """Subjects, relations, and the tokens of the noise."""

    s: Int[Tensor, " batch"]
    r: Int[Tensor, " batch"]
    noise: Int[Tensor, "batch drawn"]


def even_answers(facts: Facts) -> Int[Tensor, "S R"]:
    """a*(s, r) that uses every answer of a relation equally often, as the source's figure does."""
    s = torch.arange(facts.subjects)[:, None]
    r = torch.arange(facts.relations)[None, :]
    return r * facts.answers + s * facts.answers // facts.subjects


def random_answers(facts: Facts, stream: torch.Generator) -> Int[Tensor, "S R"]:
    """a*(s, r) drawn from the answers of r."""
    shape = (facts.subjects, facts.relations)
    chosen = torch.randint(facts.answers, shape, generator=stream, device=stream.device)
    return chosen + facts.answers * torch.arange(facts.relations, device=stream.device)


def draw(facts: Facts, batch: int, stream: torch.Generator) -> Sequences:
    """Independent sequences."""
    s = torch.randint(facts.subjects, (batch,), generator=stream, device=stream.device)
    r = torch.randint(facts.relations, (batch,), generator=stream, device=stream.device)
    shape = (batch, facts.length - 3)
    noise = torch.randint(facts.noise, shape, generator=stream, device=stream.device)
    return Sequences(s, r, noise + facts.subjects + facts.relations)


def tokens(facts: Facts, sequences: Sequences) -> Int[Tensor, "batch length"]:
    """The sequences with the subject first, the relation next and the end last.

    Nothing here depends on the order: there are no positions.
    """
    end = torch.full_like(sequences.s, facts.vocabulary - 1)
    relation = sequences.r + facts.subjects
    return torch.cat([sequences.s[:, None], relation[:, None], sequences.noise, end[:, None]], 1)


def token_counts(facts: Facts, sequences: Sequences) -> Float[Tensor, "batch vocabulary"]:
    """How often each token occurs: all that linear attention on one-hot embeddings sees."""
    seen = tokens(facts, sequences)
    empty = torch.zeros(len(seen), facts.vocabulary, device=seen.device)
    return empty.scatter_add_(1, seen, torch.ones_like(seen, dtype=empty.dtype))


def questions(
    facts: Facts, answers: Int[Tensor, "S R"], size: int, stream: torch.Generator
) -> tuple[Float[Tensor, "batch vocabulary"], Int[Tensor, " batch"]]:
    """Independent sequences as counts of their tokens, and their answers."""
    drawn = draw(facts, size, stream)
    return token_counts(facts, drawn), answers[drawn.s, drawn.r]
