"""Trainings on long natural texts, stored in data/natural_heads.json: many at once, or one.

A head is there once the prefix score is a fifth of its ceiling, which is what the score of the
earlier trainings asks for where the ceiling is one.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding, pad, scaled_dot_product_attention

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import recordable, recorded_work
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from .corpora import Natural, Synthetic
from .natural_predictions import BATCH, CONTEXT, RATE, TEXTS, ceiling, null
from .network import (
    LAYERS,
    CorpusTransformer,
    Effects,
    GivenPrevious,
    effects,
    given_previous,
    repeated_halves,
)
from .stored import (
    BETAS,
    DIM,
    ENOUGH,
    HELD_OUT,
    NORM,
    PROBE_SEED,
    PROBES,
    WEIGHT_DECAY,
    Cell,
    looks_at,
    text_tokens,
    windows,
)

CPU = torch.device("cpu")  # where all random numbers are drawn
Kind = Literal["whole", "knock-in", "null"]


@dataclass(frozen=True)
class Training:
    """One training."""

    cell: Cell  # the text, the seed and the settings
    # the whole of the head learned, its previous-token step given, or the whole learned from the
    # null of the text
    kind: Kind = "whole"

    @property
    def text(self) -> Synthetic | Natural:
        """What is read."""
        return self.cell.text

    @property
    def source(self) -> tuple[Synthetic | Natural, bool]:
        """The text, and whether its null is read instead."""
        return self.text, self.kind == "null"


@dataclass(frozen=True)
class Started:
    """A training before its first step."""

    cell: Cell  # its settings
    model: CorpusTransformer  # the network at initialisation
    read: Int[Tensor, " tokens"]  # tokens on which it is trained
    stream: torch.Generator  # where its windows are drawn from
    halves: Int[Tensor, "sequences context"]  # of which the second half repeats the first
    unseen: Int[Tensor, "windows length"]  # held-out windows
    ceiling: float  # the best prefix score

    @classmethod
    def of(cls, training: Training, text: Int[Tensor, " tokens"]) -> "Started":
        """A training and its text in tokens."""
        cell, last = training.cell, int(HELD_OUT * len(text))
        read, held_out = text[:-last], text[-last:]
        stream = generator(cell.seed, CPU)
        network = GivenPrevious if training.kind == "knock-in" else CorpusTransformer
        model = network(
            DIM, int(text.max()) + 1, cell.context, norm=NORM, generator=stream, heads=cell.heads
        )  # fmt: skip
        probe = generator(PROBE_SEED, CPU)
        halves = repeated_halves(held_out, PROBES, cell.context, generator=probe)
        unseen = windows(held_out, PROBES, cell.context, probe)
        return cls(cell, model, read, stream, halves, unseen, ceiling(held_out, cell.context))

    @property
    def vocabulary(self) -> int:
        """Different tokens V of its text."""
        return len(self.model.W_E)

    def starts(self) -> Int[Tensor, " batch"]:
        """Where the next batch of windows begins."""
        room = len(self.read) - self.cell.context
        return torch.randint(room, (self.cell.batch_size,), generator=self.stream)


def training_tokens(training: Training) -> Int[Tensor, " tokens"]:
    """What a training reads and is tested on, in tokens."""
    tokens = text_tokens(training.text)
    return torch.as_tensor(null(tokens) if training.kind == "null" else tokens)


def outcome_of(looks: Sequence[Any], begun: Started) -> dict[str, Any]:
    """What is kept: the ceiling, and all measures by growing numbers of steps."""
    names = "steps", *Effects._fields
    measured = {name: [look[n] for look in looks] for n, name in enumerate(names)}
    return {"ceiling": round(begun.ceiling, 4)} | measured


Weights = Mapping[str, Tensor]  # of all networks, along the first axis
OF_TOKENS = "W_E", "W_U"  # weights with a row for each token


def train_together(
    trainings: Sequence[Training], device: torch.device
) -> Iterator[tuple[Training, dict[str, Any]]]:
    """The trainings and what is stored of each, those with networks of one shape side by side.

    A training ends once the score is two fifths of its ceiling, or with the budget. Its draws are
    those of a processor and the same in any company, so results differ by rounding only.
    """
    groups = defaultdict(list)
    for training in trainings:
        groups[training.kind == "knock-in", training.text.vocabulary].append(training)
    for group in groups.values():
        yield from _side_by_side(tuple(group), device)


def run(training: Training) -> dict[str, Any]:
    """What is stored of a training, made on a processor."""
    ((_, result),) = train_together((training,), CPU)
    return result


@resumable
def _side_by_side(
    trainings: tuple[Training, ...], device: torch.device
) -> list[tuple[Training, dict[str, Any]]]:
    """A network that has ended goes on, unmeasured, until the last one ends."""
    texts = {each.source: training_tokens(each) for each in trainings}
    runs = [Started.of(each, texts[each.source]) for each in trainings]
    cell, knocked_in = trainings[0].cell, trainings[0].kind == "knock-in"
    most = max(run.vocabulary for run in runs)
    weights = {
        name: torch.stack([
            pad(weight.data, (0, 0, 0, most - run.vocabulary)) if name in OF_TOKENS else weight.data
            for run in runs for weight in [run.model.get_parameter(name)]
        ]).to(device).requires_grad_()
        for name, _ in runs[0].model.named_parameters()
    }  # fmt: skip
    absent = torch.arange(most) >= torch.tensor([[run.vocabulary] for run in runs])
    absent = absent.to(device)[:, None, None]
    optimiser = recordable(
        torch.optim.AdamW(
            list(weights.values()),
            lr=cell.learning_rate, weight_decay=WEIGHT_DECAY, betas=BETAS, fused=True,
        )
    )  # fmt: skip
    tokens = torch.cat([text.to(torch.int16) for text in texts.values()]).to(device)
    begins = dict(zip(texts, accumulate(map(len, texts.values()), initial=0), strict=False))
    first = torch.tensor([[begins[each.source]] for each in trainings])
    window = torch.arange(cell.context + 1, device=device)
    starts = torch.zeros(len(runs), cell.batch_size, dtype=torch.long, device=device)
    losses = torch.zeros(len(runs), device=device)
    looks: list[Any] = []  # the number of a training, steps, and all measures

    def update() -> None:
        batch = tokens[starts[..., None] + window].long()
        logits = _stacked_logits(weights, batch[..., :-1], cell.heads, knocked_in=knocked_in)
        logits = logits.masked_fill(absent, -torch.inf).flatten(0, 2)
        each = cross_entropy(logits, batch[..., 1:].flatten(), reduction="none")
        mean = each.view(len(runs), -1).mean(dim=1)
        gradients = torch.autograd.grad(mean.sum(), list(weights.values()))
        for weight, gradient in zip(weights.values(), gradients, strict=True):
            weight.grad = gradient.contiguous()  # the fused step takes it to lie as the weight does
        optimiser.step()
        losses.copy_(mean.detach())

    def going() -> list[int]:
        over = {look[0] for look in looks if look[2] >= ENOUGH * runs[look[0]].ceiling}
        return [n for n in range(len(runs)) if n not in over]

    label, due = f"{len(runs)} natural trainings", looks_at(cell.steps)
    descent = loop.steps(
        cell.steps, label,
        ended=lambda: not going(),
        weights=tuple(weights.values()), optimiser=optimiser,
        streams=tuple(run.stream for run in runs), looks=looks,
    )  # fmt: skip
    with recorded_work(update, [generator(0, device)], label) as replayed:
        for step in descent:
            starts.copy_(first + torch.stack([run.starts() for run in runs]))
            replayed()
            if step + 1 in due:
                loop.check_finite(losses, label, step)
                looks += [(n, step + 1, *_effects(runs[n], weights, n, device)) for n in going()]
    return [
        (training, outcome_of([look[1:] for look in looks if look[0] == n], runs[n]))
        for n, training in enumerate(trainings)
    ]


def _stacked_logits(
    weights: Weights,
    tokens: Int[Tensor, "runs batch length"],
    heads: int,
    *,
    knocked_in: bool,
) -> Float[Tensor, "runs batch length vocabulary"]:
    """What each network makes of sequences of its own."""
    runs, batch, length = tokens.shape
    W_E, W_pos = weights["W_E"], NORM * weights["W_pos"][:, :, None, :length]
    row = torch.arange(runs, device=tokens.device)[:, None, None] * W_E.shape[1]
    x = NORM * embedding(tokens + row, W_E.flatten(0, 1))

    def times(name: str, layer: int, x: Tensor) -> Tensor:
        return (x.flatten(1, 2) @ weights[name][:, layer].mT).view(x.shape)

    def split(x: Tensor) -> Tensor:
        return x.flatten(0, 1).unflatten(-1, (heads, -1)).transpose(1, 2)

    for layer in range(LAYERS):
        placed = x + W_pos[:, layer]
        query, key = split(times("W_Q", layer, placed)), split(times("W_K", layer, placed))
        if knocked_in and layer == 0:
            query, key = given_previous(query, key)
        value = split(times("W_V", layer, x))
        attended = scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + times("W_O", layer, attended.transpose(1, 2).reshape(x.shape))
    logits = x.flatten(1, 2) @ weights["W_U"].mT
    return logits.view(runs, batch, length, -1)


def _effects(run: Started, weights: Weights, n: int, device: torch.device) -> tuple[float, ...]:
    """What is measured of one of the networks."""
    for name, weight in run.model.named_parameters():
        own = weights[name][n].detach()
        weight.data = own[: run.vocabulary] if name in OF_TOKENS else own
    with device:
        return effects(run.model, run.halves.to(device), run.unseen.to(device))


COMMAND = "make record WHAT=runs RUNS=natural_heads"
BUDGET = 48_000_000  # tokens: three times what the published constant asks for
HEADS = 4  # of a layer


def head_training(text: Synthetic | Natural, seed: int = 0) -> Training:
    """The training of a head on a text."""
    return Training(Cell(text, CONTEXT, BATCH, BUDGET, seed, HEADS, RATE))


CONTROL = head_training(TEXTS[0])  # on a made-up text, where a head is certain
NATURAL: tuple[Training, ...] = tuple(
    head_training(text, seed) for seed in (0, 1, 2) for text in TEXTS[1:]
)
FIRST = NATURAL[: len(TEXTS) - 1]  # one seed of each text
KNOCK_INS = tuple(replace(training, kind="knock-in") for training in (CONTROL, *FIRST))
NULLS = tuple(replace(training, kind="null") for training in FIRST)

# The cheapest first: controls, one seed of each text and then all, bytes before pieces. Nulls cost
# the whole budget.
RUNS = StoredRuns(
    run,
    (CONTROL, KNOCK_INS[0], *FIRST, *KNOCK_INS[1:], *NATURAL[len(FIRST) :], *NULLS),
    together=train_together,
)
