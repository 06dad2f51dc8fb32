"""The experiment on supervision: transformers, the queries that have a loss, and their training."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding, gelu
from torch.optim.lr_scheduler import LambdaLR

from emergence import tasks
from emergence.models import AttentionOnlyTransformer, Mask
from emergence.running import loop
from emergence.running.memo import resumable
from emergence.training import AskedQueries

Kind = Literal[
    "one", "random", "full", "every", "inverse", "prefix", "full redrawn", "random redrawn",
    "upper", "short", "end", "not last", "repeats last", "repeats mixed",
]  # fmt: skip
Place = Literal["tied", "free", "by 1", "by 2"]
Method = Literal["adamw", "practice", "sgd"]
KINDS = {
    "one": "one query of the full context",
    "random": "one query of a random prefix",
    "full": "$N$ queries of the full context",
    "every": "a query of each prefix",
    "inverse": "a query of each prefix, with weights $1/n$",
    "prefix": "$N$ queries of one random prefix",
    "full redrawn": "$N$ queries of the full context, drawn one by one",
    "random redrawn": "queries of $N$ random prefixes",
    "upper": "queries of the longer half of the prefixes",
    "short": "queries of $N$ random prefixes, with chances $1/n$",
    "end": "a query of each prefix, at the place of the last",
    "not last": "a query of each prefix, never for its last pair",
    "repeats last": "all repeats after the pairs",
    "repeats mixed": "repeats among the pairs",
}
PLACES = {
    "tied": "at the beginning of the block",
    "free": "anywhere in the block",
    "by 1": "from place 0 or 1",
    "by 2": "from place 0 or 2",
}
DIM, EMBEDDING_NORM = 64, 4.0  # as in the grid of chapter Real transformers
WIDER = 4  # times as wide as the stream is an MLP
GIVEN = 4.0  # in logits, of the previous place above all others
BASE = 10_000.0  # of rotary positions: Su et al., 2104.09864
PER_PAIR = 4  # words a pair
PROBES, PROBE_SEED = 64, 1_000_003  # fixed contexts, of no training
TESTS = "full", "prefixes"
SHARES = 0.9, 0.5  # of the loss without a head: the head appears, and has formed
PATIENCE = 1.5  # times the steps to the test on full contexts that the other one may take
WARM_UP, BETAS, DECAY, LARGEST_NORM = 100, (0.9, 0.95), 0.1, 1.0  # of the practice of trainers


@dataclass(frozen=True)
class Shape:
    """The shape of a transformer with one head a layer and D = 64."""

    layers: int = 2  # attention layers
    blocks: bool = False  # LayerNorms before attention, an MLP after it, and a last LayerNorm
    positions: Literal["learned", "rotary"] = "learned"
    mask: Mask = "causal"  # whether a position attends to itself


@dataclass(frozen=True)
class Cell:
    """Trainings that differ in the seed alone."""

    kind: Kind  # which queries have a loss, or which rows of sequences with N repeats of pairs
    n_pairs: int  # pairs N of a context
    place: Place = "free"  # of a sequence in the block
    optimiser: Method = "adamw"  # with PyTorch's defaults; `practice` as trainers use it
    learning_rate: float = 3e-3
    limit: int = 20_000  # updates after which a run counts as without a head
    contexts: int = 32  # a step
    shape: Shape = Shape()  # of the transformer
    given: bool = False  # whether layer 1 attends to the previous place from the beginning
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)  # of start and data

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where in the block a sequence may begin."""
        some = {"tied": (0,), "by 1": (0, 1), "by 2": (0, 2)}
        return some.get(self.place, tuple(range(2 * self.n_pairs + 1)))

    @property
    def levels(self) -> tuple[float, float]:
        """The loss without a head on full contexts, ln N, and the mean ln n over prefixes."""
        return math.log(self.n_pairs), math.lgamma(self.n_pairs + 1) / self.n_pairs


class Batch(NamedTuple):
    """Sequences in which some rows have a loss; a query is a row that no other row sees."""

    tokens: Int[Tensor, "batch rows"]
    places: Int[Tensor, "batch rows"]
    allowed: Bool[Tensor, "batch rows rows"]  # whether a row attends to a column
    asked: Int[Tensor, "batch asked"]  # rows with a loss
    labels: Int[Tensor, "batch asked"]
    weights: Float[Tensor, " asked"]


class Transformer(AttentionOnlyTransformer):
    """The transformer of §2.1, with more layers and the parts of language models.

    A layer is z = x + A(Nx) Nx W_V^T W_O^T, and with blocks z + MLP(Nz); N is a LayerNorm, or the
    identity without blocks. Two layers without blocks are the network of §2.1 with its weights.
    """

    turns: Float[Tensor, "places 2 half"]  # cosines and sines of rotary positions

    def __init__(self, cell: Cell, *, generator: torch.Generator) -> None:
        n, self.shape = cell.n_pairs, cell.shape
        longest = 4 * n if cell.kind.startswith("repeats") else 2 * n + 1
        block, scale = longest + max(cell.offsets), EMBEDDING_NORM / DIM**0.5
        super().__init__(DIM, PER_PAIR * n, block, embedding_scale=scale, generator=generator)

        def linear(rows: int, columns: int) -> nn.Parameter:
            drawn = 2 * torch.rand(rows, columns, generator=generator, device=generator.device) - 1
            return nn.Parameter(drawn * columns**-0.5)

        layers = self.shape.layers
        for _ in range(2, layers):
            for maps in (self.W_Q, self.W_K, self.W_V, self.W_O):
                maps.append(linear(DIM, DIM))
        if self.shape.blocks:
            self.norms = nn.ModuleList(nn.LayerNorm(DIM) for _ in range(2 * layers + 1))
            self.W_in = nn.ParameterList(linear(WIDER * DIM, DIM) for _ in range(layers))
            self.W_out = nn.ParameterList(linear(DIM, WIDER * DIM) for _ in range(layers))
        if self.shape.positions == "rotary":
            del self.W_pos
            turns = torch.arange(block)[:, None] * BASE ** -(torch.arange(0, DIM, 2) / DIM)
            self.register_buffer("turns", torch.stack([turns.cos(), turns.sin()], dim=1))
        if cell.given:
            self._give_previous()

    @torch.no_grad()
    def _give_previous(self) -> None:
        """Add scores to layer 1 by which a place attends to the one before, a knock-in of alpha."""
        places = self.W_pos / self.W_pos.norm(dim=0)
        size = GIVEN / (self.score_scale * EMBEDDING_NORM**2)
        self.W_Q[0] += size * places[:, :-1] @ places[:, 1:].T
        self.W_K[0] += torch.eye(DIM)

    def losses(self, batch: Batch) -> Float[Tensor, "batch asked"]:
        """The loss of each row that has one, in nats."""
        x, places, allowed = embedding(batch.tokens, self.W_E.T), batch.places, batch.allowed
        if self.shape.positions == "learned":
            x = x + embedding(places, self.W_pos.T)
        for layer in range(self.shape.layers):
            values = self._normed(2 * layer, x)
            keys = self._turned(values @ self.W_K[layer].T, batch.places)
            if layer + 1 == self.shape.layers:  # the other rows are not read any more
                row = torch.arange(len(x), device=x.device)[:, None]
                x, places, allowed = (each[row, batch.asked] for each in (x, places, allowed))
            queries = self._turned(self._normed(2 * layer, x) @ self.W_Q[layer].T, places)
            scores = (queries @ keys.mT * self.score_scale).masked_fill(
                ~allowed, torch.finfo(x.dtype).min
            )
            attended = (scores.softmax(dim=-1) * allowed) @ values
            x = x + attended @ (self.W_O[layer] @ self.W_V[layer]).T
            if self.shape.blocks:
                hidden = gelu(self._normed(2 * layer + 1, x) @ self.W_in[layer].T)
                x = x + hidden @ self.W_out[layer].T
        logits = self._normed(-1, x) @ self.W_U.T
        losses = cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), reduction="none")
        return losses.view_as(batch.labels)

    def _normed(self, place: int, x: Tensor) -> Tensor:
        return self.norms[place](x) if self.shape.blocks else x

    def _turned(self, x: Tensor, places: Tensor) -> Tensor:
        """Queries or keys, turned by their places if positions are rotary."""
        if self.shape.positions == "learned":
            return x
        cos, sin = self.turns[places].unbind(dim=-2)
        one, other = x.chunk(2, dim=-1)
        return torch.cat([one * cos - other * sin, one * sin + other * cos], dim=-1)


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


def drawn(cell: Cell, stream: torch.Generator) -> Batch:
    """The batch of a step: contexts with queries behind them, or sequences with repeats."""
    pairs = _pairs(cell, cell.contexts, stream)
    if not cell.kind.startswith("repeats"):
        return _queried(cell, pairs, [cell.kind], stream)
    size, n = len(pairs), cell.n_pairs
    order = torch.rand(size, 2 * n, generator=stream).argsort(dim=1) % n
    if cell.kind == "repeats last":
        again = torch.rand(size, n, generator=stream).argsort(dim=1)
        order = torch.cat([torch.arange(n).expand(size, -1), again], dim=1)
    earlier = (order[:, :, None] == order[:, None]).tril(-1).any(dim=-1)
    rows = 2 * earlier.nonzero()[:, 1].view(size, n)
    tokens = pairs.view(size, n, 2).gather(1, order[..., None].expand(-1, -1, 2)).flatten(1)
    at, labels = torch.arange(4 * n).expand_as(tokens), tokens.gather(1, rows + 1)
    weights = torch.full((n,), 1 / n)
    return Batch(
        tokens, _offsets(cell, size, stream) + at, _allowed(cell, at), rows, labels, weights
    )


def probe(cell: Cell) -> Batch:
    """Fixed contexts with a query of each prefix and, after these, one for each pair in full."""
    stream = torch.Generator().manual_seed(PROBE_SEED)
    return _queried(cell, _pairs(cell, PROBES, stream), ["every", "full"], stream)


def _pairs(cell: Cell, contexts: int, stream: torch.Generator) -> Int[Tensor, "batch rows"]:
    n = cell.n_pairs
    return tasks.token_pairs(contexts, n, PER_PAIR * n, 2 * n + 1, generator=stream).tokens[:, :-1]


def _queried(cell: Cell, pairs: Tensor, kinds: list[Kind], stream: torch.Generator) -> Batch:
    """Contexts, and behind them queries that stand right after what they see or all at the end."""
    size, length = pairs.shape
    parts = [asked(replace(cell, kind=kind), size, stream) for kind in kinds]
    sizes, wanted, weights = (torch.cat(part, dim=-1) for part in zip(*parts, strict=True))
    items, labels = (part.gather(1, wanted) for part in (pairs[:, ::2], pairs[:, 1::2]))
    own = torch.arange(length).expand_as(pairs)
    seen = torch.cat([own, 2 * sizes], dim=1)
    end = torch.full_like(sizes, length) if cell.kind == "end" else 2 * sizes
    at = _offsets(cell, size, stream) + torch.cat([own, end], dim=1)
    rows = length + torch.arange(sizes.shape[1]).expand_as(sizes)
    tokens = torch.cat([pairs, items], dim=1)
    return Batch(tokens, at, _allowed(cell, seen), rows, labels, weights)


def _allowed(cell: Cell, seen: Int[Tensor, "batch rows"]) -> Bool[Tensor, "batch rows rows"]:
    """A row attends to the first few and, unless the mask is strict, to itself."""
    rows = torch.arange(seen.shape[1])
    itself = (rows == rows[:, None]) & (cell.shape.mask == "causal")
    return (rows < seen[..., None]) | itself


def _offsets(cell: Cell, size: int, stream: torch.Generator) -> Tensor:
    """Where each sequence begins."""
    offsets = torch.tensor(cell.offsets)
    if len(offsets) == 1:  # nothing is drawn
        return offsets
    return offsets[torch.randint(len(offsets), (size, 1), generator=stream)]


@resumable
def train_supervised(
    cell: Cell, seed: int, *, label: str = "training"
) -> list[tuple[float, float, float]]:
    """Train until both tests are passed, or the first alone for long, or the run diverges.

    Returns:
        Updates before each look, and the losses on full contexts and on prefixes; infinite losses
        at the last look of a run that diverges.
    """
    stream = torch.Generator().manual_seed(seed)
    model = Transformer(cell, generator=stream)
    optimiser = _optimiser(cell, model)
    practice = cell.optimiser == "practice"
    warm_up = LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) if practice else 1.0)
    fixed, due = probe(cell), {*loop.ever_rarer(cell.limit)}
    whole, of_prefixes = (SHARES[-1] * level for level in cell.levels)
    looks: list[tuple[float, float, float]] = []

    def ended() -> bool:
        formed = [look[0] for look in looks if look[1] <= whole]
        both = bool(formed) and any(look[2] <= of_prefixes for look in looks)
        late = bool(formed) and looks[-1][0] >= PATIENCE * formed[0]
        return both or late or math.isinf(looks[-1][1])

    for step in loop.steps(
        cell.limit + 1, label, ended=ended, parameters=tuple(model.parameters()),
        optimiser=optimiser, warm_up=warm_up, stream=stream, looks=looks,
    ):  # fmt: skip
        if step in due:
            with torch.no_grad():
                prefixes, full = model.losses(fixed).mean(dim=0).chunk(2)
            looks.append((float(step), float(full.mean()), float(prefixes.mean())))
        if ended() or step == cell.limit:
            continue
        batch = drawn(cell, stream)
        loss = (model.losses(batch).mean(dim=0) * batch.weights).sum()
        if not loss.isfinite():
            looks.append((float(step), math.inf, math.inf))
            continue
        optimiser.zero_grad()
        loss.backward()
        if practice:
            torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_NORM)
        optimiser.step()
        warm_up.step()
    return looks


def _optimiser(cell: Cell, model: Transformer) -> torch.optim.Optimizer:
    if cell.optimiser == "sgd":
        return torch.optim.SGD(model.parameters(), lr=cell.learning_rate, fused=True)
    given: dict[str, Any] = (
        {"betas": BETAS, "weight_decay": DECAY} if cell.optimiser == "practice" else {}
    )
    return torch.optim.AdamW(model.parameters(), lr=cell.learning_rate, fused=True, **given)


def run(cell: Cell) -> list[dict[str, Any]]:
    """What is stored of a cell: one row per seed, with the steps at which each test is passed."""
    label = f"{cell.kind}, {cell.place}: {cell.optimiser}, N = {cell.n_pairs}"
    return [
        {"seed": seed} | passed(cell, train_supervised(cell, seed, label=label))
        for seed in cell.seeds
    ]


def passed(cell: Cell, looks: list[tuple[float, float, float]]) -> dict[str, Any]:
    """The steps at which the tests are passed, the last losses by those without a head, the end."""
    steps, *curves = np.array(looks).T
    found: dict[str, Any] = {}
    for name, curve, level in zip(TESTS, curves, cell.levels, strict=True):
        found[name] = [_fallen(steps, curve, share * level) for share in SHARES]
    shares = [float(curve[-1] / level) for curve, level in zip(curves, cell.levels, strict=True)]
    diverged = not all(map(math.isfinite, shares))
    last = None if diverged else [round(share, 3) for share in shares]
    return found | {"losses": last, "updates": int(steps[-1])}


def _fallen(steps: np.ndarray, curve: np.ndarray, level: float) -> float | None:
    """When a loss first falls to a level, on a line between two looks; None for never."""
    below = np.flatnonzero(curve <= level)
    if not below.size:
        return None
    near = slice(max(0, below[0] - 1), below[0] + 1)
    return round(float(np.interp(-level, -curve[near], steps[near])), 3)
