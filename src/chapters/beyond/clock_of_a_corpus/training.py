"""Training of language models on windows of texts, with a loss at every token: several at once."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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

from .corpora import Text, null, text_tokens
from .network import (
    LAYERS,
    CorpusTransformer,
    Effects,
    GivenPrevious,
    ceiling,
    effects,
    given_previous,
    repeated_halves,
)

BUDGET = 5_000_000  # tokens that a run reads at most, unless its cell says so
DIM = 128
NORM = 4.0  # of embeddings, as in chapter A loss at every position
BETAS = (0.9, 0.99)  # of AdamW: emergence takes hundreds of steps, the default remembers a thousand
WEIGHT_DECAY = 0.01
HELD_OUT = 0.1  # of the text, at its end
PROBES = 32  # sequences and windows that a look measures
PROBE_SEED = 1_000_003  # of no training
GROWTH = 1.1  # of the steps from one look to the next
FIRST_LOOK, SPARSEST = 20, 250  # in steps
LEVEL, ENOUGH = 0.2, 0.4  # the prefix score at which a head is there, and at which a run ends


@dataclass(frozen=True)
class Cell:
    """One training."""

    text: Text  # what it reads
    context: int  # tokens C of a window
    batch_size: int  # windows B of a step
    budget: int = BUDGET  # tokens that it reads at most
    seed: int = 0  # of initial weights and windows
    heads: int = 1  # of a layer
    learning_rate: float = 3e-3  # of AdamW

    @property
    def steps(self) -> int:
        """Updates after which a run counts as without a head."""
        return self.budget // (self.context * self.batch_size)


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
    def text(self) -> Text:
        return self.cell.text

    @property
    def source(self) -> tuple[Text, bool]:
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
        cell, last = training.cell, int(HELD_OUT * len(text))
        read, held_out = text[:-last], text[-last:]
        stream = generator(cell.seed, CPU)
        network = GivenPrevious if training.kind == "knock-in" else CorpusTransformer
        model = network(
            DIM, int(text.max()) + 1, cell.context, norm=NORM, generator=stream, heads=cell.heads
        )  # fmt: skip
        probe = generator(PROBE_SEED, CPU)
        halves = repeated_halves(held_out, PROBES, cell.context, generator=probe)
        starts = torch.randint(len(held_out) - cell.context, (PROBES,), generator=probe)
        unseen = held_out[starts[:, None] + torch.arange(cell.context + 1)]
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


def looks_at(steps: int) -> set[int]:
    """After how many updates a network is measured: ever more apart, and after the last."""
    moments = [FIRST_LOOK]
    while moments[-1] < steps:
        moments.append(moments[-1] + min(SPARSEST, max(10, int((GROWTH - 1) * moments[-1]))))
    return {look for look in moments if look < steps} | {steps}


Weights = Mapping[str, Tensor]  # of all networks, along the first axis
OF_TOKENS = "W_E", "W_U"  # weights with a row for each token


def train_together(
    trainings: Sequence[Training], device: torch.device, *, relative: bool = True
) -> Iterator[tuple[Training, dict[str, Any]]]:
    """The trainings and what they measured, those with networks of one shape side by side.

    A training ends once the score is `ENOUGH`, or this share of its ceiling if `relative`, or with
    the budget. Its draws are those of a processor and the same in any company, so results differ by
    rounding only. They have the ceiling, the loss of the last batch, and by growing numbers of
    steps all that was measured.
    """
    groups = defaultdict(list)
    for training in trainings:
        groups[training.kind == "knock-in", training.text.vocabulary].append(training)
    for group in groups.values():
        yield from _side_by_side(tuple(group), device, relative)


@resumable
def _side_by_side(
    trainings: tuple[Training, ...], device: torch.device, relative: bool
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
        over = {look[0] for look in looks if look[2] >= enough[look[0]]}
        return [n for n in range(len(runs)) if n not in over]

    enough = [ENOUGH * (run.ceiling if relative else 1.0) for run in runs]
    label, due = f"{len(runs)} trainings on texts", looks_at(cell.steps)
    descent = loop.steps(
        cell.steps, label,
        ended=lambda: not going(),
        weights=tuple(weights.values()), optimiser=optimiser,
        streams=tuple(run.stream for run in runs), losses=losses, looks=looks,
    )  # fmt: skip
    with recorded_work(update, [generator(0, device)], label) as replayed:
        for step in descent:
            starts.copy_(first + torch.stack([run.starts() for run in runs]))
            replayed()
            if step + 1 in due:
                loop.check_finite(losses, label, step)
                looks += [(n, step + 1, *_effects(runs[n], weights, n, device)) for n in going()]
    results = []
    for n, training in enumerate(trainings):
        columns = zip(*(look[1:] for look in looks if look[0] == n), strict=True)
        measured = dict(zip(("steps", *Effects._fields), map(list, columns), strict=True))
        ends = {"ceiling": round(runs[n].ceiling, 4), "loss": round(float(losses[n]), 4)}
        results.append((training, ends | measured))
    return results


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
    for name, weight in run.model.named_parameters():
        own = weights[name][n].detach()
        weight.data = own[: run.vocabulary] if name in OF_TOKENS else own
    with device:
        return effects(run.model, run.halves.to(device), run.unseen.to(device))
