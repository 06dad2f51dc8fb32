"""Trainings in which the first positions have no loss, under either mask, and their predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from emergence import tasks, theory
from emergence.experiments.first_passage import knows_labels_only
from emergence.models import Mask, Weights, allowed_positions, apply, attention
from emergence.subspace import project
from emergence.tasks import Query
from emergence.training import Optimiser, initial_transformer, token_optimiser
from running import loop
from running.cache import Task
from running.devices import generator

from . import late
from .minimal import ALPHA, BETA
from .stored import TokensCell, crossed
from .supervision import Kind, asked
from .tokens import prefix_logits

LEVEL = 0.5
LOOK = 10  # steps of the transformer from one look at the fixed contexts to the next
PROBE_SEED = 1_000_003  # of the fixed contexts, of no training


@dataclass(frozen=True)
class Dropped:
    """All 28 D^2 weights from zero on Gaussian pairs with D = 2N, at learning rate 1."""

    n_pairs: int  # pairs N
    skipped: int  # how many of the shortest prefixes have no loss
    mask: Mask
    query: Query  # which pair of each prefix is asked for
    steps: int  # updates of a run
    seed: int  # of the data
    batch_size: int = 32  # contexts a step


@dataclass(frozen=True)
class DroppedTokens:
    """The transformer of §2, any pair of each prefix being asked for, from the same weights."""

    n_pairs: int
    skipped: int
    optimiser: Optimiser  # `adamw` or `sgd`
    limit: int  # updates, after which it counts as not formed
    seed: int  # of start and data


def steps_to_head(curve: np.ndarray) -> float:
    """Steps until alpha_3 and beta_2, the columns, are both at their level; infinity for never."""
    reached = [crossed(np.arange(float(len(curve))), part, LEVEL) for part in curve.T]
    return max(np.inf if step is None else step for step in reached)


def predicted(run: Dropped) -> np.ndarray:
    """alpha_3 and beta_2 by step on population descent of the nineteen, in units of the weights."""
    landscape = theory.landscape_of(
        run.n_pairs, run.query, model="full", mask=run.mask,
        supervision=late(run.n_pairs, run.skipped).tolist(),
    )  # fmt: skip
    path = theory.descent_in(landscape, run.steps, rates=theory.gaussian_rates(2.0 * run.n_pairs))
    return np.stack([path.alpha, path.beta], axis=1)


def output(weights: Weights, context: Tensor, queries: Tensor, mask: Mask) -> Tensor:
    """What Eq. 1 predicts for each query, a copy of an item that sees its prefix alone.

    Queries stand after the context, one for each of its prefixes: query n sees the first 2n rows,
    and itself under the causal mask. No row of the context sees a query.
    """
    rows, length = torch.cat([context, queries], dim=1), context.shape[1]
    allowed = allowed_positions(rows.shape[1], mask, rows.device)
    sizes = 2 * torch.arange(1, queries.shape[1] + 1, device=rows.device)
    allowed[length:, :length] = torch.arange(length, device=rows.device) < sizes[:, None]
    allowed[length:, length:] = torch.eye(len(sizes), device=rows.device).bool() & (
        mask == "causal"
    )
    for weight in weights[:2]:
        pattern = attention(apply(rows, weight) @ rows.mT, allowed)
        rows = torch.cat([rows, pattern @ rows], dim=-1)
    return apply(rows[:, length:].contiguous(), weights.w3)


def trained(run: Dropped) -> np.ndarray:
    """D alpha_3 and D beta_2 before each step; a run of a sweep."""
    stream, dim = generator(run.seed, torch.device("cpu")), 2 * run.n_pairs
    weights = Weights(*(torch.zeros(k * dim, m * dim) for k, m in ((2, 2), (4, 4), (8, 1))))
    share = torch.from_numpy(late(run.n_pairs, run.skipped)).float()
    rows: list[Tensor] = []
    label = f"without {run.skipped}, {run.mask}, {run.query}, seed {run.seed}"
    for step in loop.steps(
        Task.of(trained, run=run),
        run.steps,
        label,
        weights=tuple(weights),
        stream=stream,
        rows=rows,
    ):
        rows.append(dim * project(weights)[0].stacked()[[ALPHA, BETA]])
        batch = tasks.gaussian_pairs(
            run.batch_size, run.n_pairs, dim, generator=stream, dtype=torch.float32
        )
        context = batch.inputs[:, :-1]
        kind: Kind = "last" if run.query == "last" else "every"
        wanted = asked(kind, run.batch_size, run.n_pairs, generator=stream).wanted
        pick = wanted[..., None].expand(-1, -1, dim)
        queries = torch.zeros(*wanted.shape, 2 * dim)
        queries[..., :dim] = context[:, 0::2, :dim].gather(1, pick)
        free = Weights(*(part.requires_grad_() for part in weights))
        error = output(free, context, queries, run.mask) - context[:, 1::2, :dim].gather(1, pick)
        loss = (error.square().mean(dim=(0, 2)) * share).sum()
        loop.check_finite(loss.detach(), label, step)
        gradient = torch.autograd.grad(loss, tuple(free))
        with torch.no_grad():
            for part, slope in zip(weights, gradient, strict=True):
                part -= slope
    return torch.stack(rows).detach().double().numpy()


def trained_tokens(run: DroppedTokens) -> float:
    """Steps until the loss on whole contexts is half of ln N; a run of a sweep."""
    cell = TokensCell("every", run.n_pairs, run.optimiser, run.limit)
    settings, stream = cell.training(), generator(run.seed, torch.device("cpu"))
    model = initial_transformer(settings, stream)
    optimiser = token_optimiser(settings, model)
    level = LEVEL * knows_labels_only(run.n_pairs)
    share = torch.from_numpy(late(run.n_pairs, run.skipped)).float()

    def contexts(size: int, source: torch.Generator) -> tasks.TokenBatch:
        return tasks.token_pairs(
            size, run.n_pairs, settings.vocabulary, settings.block_size, generator=source
        )

    probe = contexts(128, generator(PROBE_SEED, torch.device("cpu")))
    looks: list[Any] = []  # steps, loss
    task = Task.of(trained_tokens, run=run)
    label = f"{run.optimiser}, without {run.skipped}, seed {run.seed}"
    for step in loop.steps(
        task, run.limit, label,
        ended=lambda: bool(looks[-1][1] <= level), parameters=tuple(model.parameters()),
        optimiser=optimiser, stream=stream, looks=looks,
    ):  # fmt: skip
        if step % LOOK == 0:
            with torch.no_grad():
                logits = model(probe.tokens, probe.positions)[:, -1]
                looks.append((step, cross_entropy(logits, probe.target)))
        context = contexts(settings.batch_size, stream).tokens[:, :-1]
        batch = asked("every", settings.batch_size, run.n_pairs, generator=stream)
        items = context[:, 0::2].gather(1, batch.wanted)
        labels = context[:, 1::2].gather(1, batch.wanted)
        logits = prefix_logits(model, context, items, batch.sizes)
        losses = cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        optimiser.zero_grad()
        loss = losses.view_as(labels).mean(dim=0) @ share
        loop.check_finite(loss.detach(), label, step)
        loss.backward()
        optimiser.step()
    times, curve = zip(*looks, strict=True)
    reached = crossed(np.array(times, dtype=float), -np.array([float(v) for v in curve]), -level)
    return np.inf if reached is None else reached
