"""The cells of the experiment: which queries have a loss, and where a sequence stands."""

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence import tasks
from emergence.training import AskedQueries

from .model import PLAIN, Shape, Transformer

Kind = Literal[
    "one", "random", "full", "every", "inverse", "prefix", "full redrawn", "random redrawn",
    "upper", "short", "end", "not last", "repeats last", "repeats mixed",
]  # fmt: skip
Place = Literal["tied", "free", "by 1", "by 2"]
Method = Literal["adamw", "practice", "sgd"]
PER_PAIR = 4  # words a pair
PROBES, PROBE_SEED = 64, 1_000_003  # fixed contexts, of no training


@dataclass(frozen=True)
class Cell:
    """Trainings that differ in the seed alone.

    Attributes:
        kind: which queries have a loss. `one` of the full context, or `random`, one of a prefix of
            random length; of N queries a context: `full`, each pair of the full context; `every`,
            one of each prefix; `inverse`, these with weights 1/n; `prefix`, N of one random prefix;
            `full redrawn`, N of the full context and `random redrawn`, N of N random prefixes, all
            drawn one by one; `upper`, prefixes of the longer half; `short`, lengths drawn as 1/n;
            `end`, every prefix, each query at the place of the last; `not last`, every prefix of
            two pairs or more, never for its last pair. In sequences of N pairs and their N repeats,
            which have the loss: `repeats last`, after all pairs, or `repeats mixed`, anywhere.
        n_pairs: pairs N of a context.
        place: of a sequence in the block: `tied` to its beginning, `free`, or 0 or 1 (`by 1`) or
            0 or 2 places (`by 2`) behind it.
        optimiser: `adamw`, with PyTorch's defaults, `practice`, with the warm-up, decay and
            clipping of trainers, or `sgd`.
        learning_rate: of it.
        limit: updates after which a run counts as without a head.
        contexts: a step.
        shape: of the transformer.
        given: whether layer 1 attends to the previous place from the beginning.
        seeds: of start and data.
    """

    kind: Kind
    n_pairs: int
    place: Place = "free"
    optimiser: Method = "adamw"
    learning_rate: float = 3e-3
    limit: int = 20_000
    contexts: int = 32
    shape: Shape = PLAIN
    given: bool = False
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)

    @property
    def queries(self) -> int:
        """Queries of a step, those of which the loss is made."""
        return self.contexts * (1 if self.kind in ("one", "random") else self.n_pairs)

    @property
    def tokens(self) -> int:
        """Tokens of a step; the queries of a context share its tokens."""
        repeated = self.kind.startswith("repeats")
        of_queries = self.n_pairs * 2 * self.contexts if repeated else self.queries
        return self.contexts * 2 * self.n_pairs + of_queries

    @property
    def block_size(self) -> int:
        """Places of the block."""
        longest = 4 * self.n_pairs if self.kind.startswith("repeats") else 2 * self.n_pairs + 1
        return longest + max(self.offsets)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where in the block a sequence may begin."""
        some = {"tied": (0,), "by 1": (0, 1), "by 2": (0, 2)}
        return some.get(self.place, tuple(range(2 * self.n_pairs + 1)))

    @property
    def levels(self) -> tuple[float, float]:
        """The loss without a head on full contexts, ln N, and the mean ln n over prefixes."""
        return math.log(self.n_pairs), math.lgamma(self.n_pairs + 1) / self.n_pairs


class Asked(NamedTuple):
    """Contexts at their places, and their queries."""

    context: Int[Tensor, "batch rows"]
    places: Int[Tensor, "batch rows"]
    items: Int[Tensor, "batch asked"]
    asked_at: Int[Tensor, "batch asked"]
    sizes: Int[Tensor, "batch asked"]
    labels: Int[Tensor, "batch asked"]
    weights: Float[Tensor, " asked"]

    def losses(self, model: Transformer) -> Float[Tensor, "batch asked"]:
        """The loss of each query in nats."""
        logits = model.query_logits(*self[:5])
        losses = cross_entropy(logits.flatten(0, 1), self.labels.flatten(), reduction="none")
        return losses.view_as(self.labels)


def asked(cell: Cell, contexts: int, stream: torch.Generator) -> AskedQueries:
    """Which prefix each query sees, for which pair it asks, and its weight."""
    n, kind = cell.n_pairs, cell.kind
    each = torch.arange(1, n + 1).expand(contexts, -1)
    whole = torch.full_like(each, n)
    sizes = {
        "one": whole[:, :1], "full": whole, "full redrawn": whole,
        "upper": torch.maximum(each, n + 1 - each), "not last": each.clamp_min(2),
    }.get(kind, each)  # fmt: skip
    if kind in ("random", "prefix", "random redrawn"):
        count = n if kind == "random redrawn" else 1
        sizes = torch.randint(1, n + 1, (contexts, count), generator=stream)
        sizes = sizes.expand(-1, n) if kind == "prefix" else sizes
    elif kind == "short":
        sizes = 1 + torch.multinomial(1 / each, n, replacement=True, generator=stream)
    weights = 1 / each[0] if kind == "inverse" else torch.ones(sizes.shape[1])
    among = sizes - 1 if kind == "not last" else sizes
    chance = torch.rand(sizes.shape, generator=stream, dtype=torch.float64)
    wanted = each - 1 if kind == "full" else (chance * among).long()
    return AskedQueries(sizes, wanted, weights / weights.sum())


def drawn(cell: Cell, contexts: int, stream: torch.Generator) -> Asked:
    """A batch of contexts with the queries of a cell."""
    context = _pairs(cell, contexts, stream)
    return _placed(cell, context, asked(cell, contexts, stream), stream)


def probe(cell: Cell) -> Asked:
    """Fixed contexts with a query of each prefix and, after these, one for each pair in full."""
    stream = torch.Generator().manual_seed(PROBE_SEED)
    context = _pairs(cell, PROBES, stream)
    every, full = (asked(replace(cell, kind=kind), PROBES, stream) for kind in ("every", "full"))
    both = AskedQueries(*(torch.cat(part, dim=-1) for part in zip(every, full, strict=True)))
    return _placed(cell, context, both, stream)


def _pairs(cell: Cell, contexts: int, stream: torch.Generator) -> Int[Tensor, "batch rows"]:
    n = cell.n_pairs
    batch = tasks.token_pairs(contexts, n, PER_PAIR * n, 2 * n + 1, generator=stream)
    return batch.tokens[:, :-1]


def _offset(cell: Cell, contexts: int, stream: torch.Generator) -> Int[Tensor, "batch 1"]:
    offsets = torch.tensor(cell.offsets)
    if len(offsets) == 1:  # nothing is drawn
        return offsets.expand(contexts, 1)
    return offsets[torch.randint(len(offsets), (contexts, 1), generator=stream)]


def _placed(cell: Cell, context: Tensor, queries: AskedQueries, stream: torch.Generator) -> Asked:
    offset = _offset(cell, len(context), stream)
    sizes = torch.full_like(queries.sizes, cell.n_pairs) if cell.kind == "end" else queries.sizes
    items, labels = (part.gather(1, queries.wanted) for part in (context[:, ::2], context[:, 1::2]))
    places = offset + torch.arange(context.shape[1])
    return Asked(context, places, items, offset + 2 * sizes, queries.sizes, labels, queries.weights)


def sequences(
    cell: Cell, stream: torch.Generator
) -> tuple[Int[Tensor, "batch rows"], Int[Tensor, "batch pairs"]]:
    """Sequences of N pairs and their repeats, and the place of each repeated item."""
    n, size = cell.n_pairs, cell.contexts
    pairs = _pairs(cell, size, stream).view(size, n, 2)
    order = torch.rand(size, 2 * n, generator=stream).argsort(dim=1) % n
    if cell.kind == "repeats last":
        again = torch.rand(size, n, generator=stream).argsort(dim=1)
        order = torch.cat([torch.arange(n).expand(size, -1), again], dim=1)
    earlier = (order[:, :, None] == order[:, None]).tril(-1).any(dim=-1)
    repeats = 2 * earlier.nonzero()[:, 1].view(size, n)
    return pairs.gather(1, order[..., None].expand(-1, -1, 2)).flatten(1), repeats


def batch_loss(cell: Cell, model: Transformer, stream: torch.Generator) -> Float[Tensor, ""]:
    """The loss of a fresh batch."""
    if not cell.kind.startswith("repeats"):
        batch = drawn(cell, cell.contexts, stream)
        return (batch.losses(model).mean(dim=0) * batch.weights).sum()
    tokens, repeats = sequences(cell, stream)
    places = _offset(cell, len(tokens), stream) + torch.arange(tokens.shape[1])
    logits = model.sequence_logits(tokens, places)
    logits = logits.gather(1, repeats[..., None].expand(-1, -1, logits.shape[-1]))
    return cross_entropy(logits.flatten(0, 1), tokens.gather(1, repeats + 1).flatten())
