"""Trainings on long natural texts: many at once on a GPU, or one on a processor."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding, pad, scaled_dot_product_attention

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import recordable, recorded_work
from emergence.running.memo import resumable

from ..measures import effects
from ..network import LAYERS
from ..stored import ENOUGH
from ..training import BETAS, NORM, WEIGHT_DECAY, looks_at
from .network import given_previous
from .trained import CPU, Started, Training, outcome_of, training_tokens

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
