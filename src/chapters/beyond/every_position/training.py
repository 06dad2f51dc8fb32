"""Training of both networks with queries of several prefixes of one context (Eq. 1, App. E)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding

from emergence import tasks
from emergence.models import AttentionOnlyTransformer, Mask, Weights, allowed_positions, attention
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.subspace import project
from emergence.training import (
    SAMPLERS,
    Data,
    Kind,
    TokenTraining,
    draw_queries,
    initial_transformer,
    prefix_output,
    token_optimiser,
)

FLOW_STEP = 0.25  # flow time of a step on orthonormal data, a small part of the fastest time
ALPHA, BETA, GAMMA = 2, 4, 17  # places of alpha_3, beta_2 and gamma_3 among the nineteen


@dataclass(frozen=True)
class AskedWeights:
    """Gradient descent of the disentangled transformer from zero, as in §4 except for the queries.

    The loss is the mean over contexts and dimensions, weighted over the queries of a context."""

    kind: Kind  # what is asked, as in `training.draw_queries`
    n_pairs: int  # pairs N in a context, >= 1; the dimension D is 2N
    batch_size: int  # fresh contexts a step
    steps: int  # number of updates
    data: Data = "gaussian"  # `gaussian` (Eq. 5), at rate 1, or `orthonormal` (Assumption 7)
    mask: Mask = "strict"  # whether a position attends to itself
    skipped: int = 0  # how many of the shortest prefixes have no loss, if each has a query

    @property
    def dim(self) -> int:
        """The dimension D of an item, label or position."""
        return 2 * self.n_pairs

    @property
    def learning_rate(self) -> float:
        """The rate of gradient descent."""
        return FLOW_STEP * self.dim**2 if self.data == "orthonormal" else 1.0


@resumable
def train_asked_weights(
    settings: AskedWeights,
    seed: int,
    *,
    device: torch.device,
    label: str = "training",
    until_both: float | None = None,
) -> Float[np.ndarray, "times 4"]:
    """Train one network; before each step D alpha_3, D beta_2, gamma_3 and the batch's loss.

    On orthonormal data a score is the weight itself, and the first two are alpha_3 and beta_2. With
    `until_both`, training ends once each of these two has been at that level.
    """
    stream, dim = generator(seed, device), settings.dim
    shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)
    weights = Weights(*(torch.zeros(shape, device=device) for shape in shapes))
    scale = float(dim) if settings.data == "gaussian" else 1.0
    rows: list[Tensor] = []
    level = np.inf if until_both is None else until_both

    def both_emerged() -> bool:
        return bool((torch.stack(rows)[:, :2].amax(dim=0) >= level).all())

    for step in loop.steps(
        settings.steps,
        label,
        ended=None if until_both is None else both_emerged,
        weights=tuple(weights),
        stream=stream,
        rows=rows,
    ):
        free = Weights(*(part.requires_grad_() for part in weights))
        loss = _loss_of_weights(settings, free, stream)
        gradient = torch.autograd.grad(loss, tuple(free))
        loop.check_finite(loss.detach(), label, step)
        with torch.no_grad():
            head = project(weights)[0].stacked()[[ALPHA, BETA, GAMMA]]
            units = head.new_tensor([scale, scale, 1.0])
            rows.append(torch.cat([head * units, loss.detach()[None]]))
            for part, slope in zip(weights, gradient, strict=True):
                part -= settings.learning_rate * slope
    return torch.stack([row.cpu() for row in rows]).double().numpy()


def _loss_of_weights(
    settings: AskedWeights, weights: Weights, stream: torch.Generator
) -> Float[Tensor, ""]:
    n, dim, size = settings.n_pairs, settings.dim, settings.batch_size
    batch = SAMPLERS[settings.data](
        size, n, dim, generator=stream, query="last", dtype=torch.float32
    )
    context = batch.inputs[:, :-1]
    found = draw_queries(settings.kind, size, n, generator=stream, skipped=settings.skipped)
    pick = found.wanted[..., None].expand(-1, -1, dim)
    queries = torch.zeros(*found.wanted.shape, 2 * dim, device=context.device)
    queries[..., :dim] = context[:, 0::2, :dim].gather(1, pick)
    target = context[:, 1::2, :dim].gather(1, pick)
    error = prefix_output(weights, context, queries, found.sizes, settings.mask) - target
    # over dimensions the mean in Gaussian units, where a target has squared norm D
    return (error.square().mean(dim=(0, 2)) * found.weights.to(error)).sum()


PROBE_SEED = 1_000_003  # of the fixed contexts, of no training
PROBES = 128


def prefix_logits(
    model: AttentionOnlyTransformer,
    context: Int[Tensor, "batch length"],
    queries: Int[Tensor, "batch asked"],
    sizes: Int[Tensor, "batch asked"],
) -> Float[Tensor, "batch asked vocabulary"]:
    """The logits after each query, an item that stands right after the first 2n tokens.

    What the network answers to as many sequences, of 2n + 1 tokens each: a query sees these and
    itself, and no token of the context sees a query.
    """
    length = context.shape[-1]
    places = torch.arange(length, device=context.device)
    seen = places < 2 * sizes[..., None]
    seen = torch.cat([seen, torch.ones_like(seen[..., :1])], dim=-1)  # and itself
    causal = allowed_positions(length, "causal", context.device)
    tokens, at = model.W_E.T.contiguous(), model.W_pos.T.contiguous()
    x = embedding(context, tokens) + at[:length]
    y = embedding(queries, tokens) + embedding(2 * sizes, at)
    for layer in range(2):
        query, key = model.W_Q[layer], model.W_K[layer]
        write = model.W_O[layer] @ model.W_V[layer]
        keys = x @ key.T
        of_query = y @ query.T
        own_score = (of_query * (y @ key.T)).sum(dim=-1, keepdim=True)
        scores = torch.cat([of_query @ keys.mT, own_score], dim=-1) * model.score_scale
        share = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        attended = share[..., :-1] @ x + share[..., -1:] * y
        if layer == 0:  # nothing reads what the context makes of layer 2
            pattern = attention((x @ query.T) @ keys.mT * model.score_scale, causal)
            x = x + pattern @ x @ write.T
        y = y + attended @ write.T
    return y @ model.W_U.T


@resumable
def train_asked_tokens(
    settings: TokenTraining,
    kind: Kind,
    seed: int,
    *,
    level: float,
    device: torch.device,
    label: str = "training",
    skipped: int = 0,
    look_every: int = 0,
) -> tuple[Float[np.ndarray, " looks"], Float[np.ndarray, " looks"]]:
    """Train until the loss of the fixed set is at most `level`, diverges, or the steps are over.

    The fixed set has one query of each whole context, for any pair. It is looked at ever more
    rarely, unless `look_every` so many steps. The shortest prefixes may be skipped, as in
    `training.draw_queries`. With the updates made before each look comes the loss in nats of the
    fixed set; it is infinite at the last look if the run diverges.
    """
    stream = generator(seed, device)
    model = initial_transformer(settings, stream)
    optimiser = token_optimiser(settings, model)
    probe = tasks.token_pairs(
        PROBES, settings.n_pairs, settings.vocabulary, settings.block_size,
        generator=generator(PROBE_SEED, device),
    )  # fmt: skip
    looks: list[Any] = []  # steps, loss
    due = (
        range(0, settings.steps + 1, look_every) if look_every else loop.ever_rarer(settings.steps)
    )

    def ended() -> bool:
        return bool(looks[-1][1] <= level or looks[-1][1].isinf())

    for step in loop.steps(
        settings.steps + 1,
        label,
        ended=ended,
        parameters=tuple(model.parameters()),
        optimiser=optimiser,
        stream=stream,
        looks=looks,
    ):
        if step in due:
            looks.append((step, _look(model, probe)))
        if looks[-1][1] <= level or step == settings.steps:
            continue
        loss = _loss_of_tokens(settings, kind, model, stream, skipped)
        if not loss.isfinite():
            looks.append((step, torch.tensor(torch.inf)))
            continue
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    steps, losses = zip(*looks, strict=True)
    return np.array(steps, dtype=float), np.array([float(loss) for loss in losses])


def _loss_of_tokens(
    settings: TokenTraining,
    kind: Kind,
    model: AttentionOnlyTransformer,
    stream: torch.Generator,
    skipped: int,
) -> Float[Tensor, ""]:
    n, size = settings.n_pairs, settings.batch_size
    context = tasks.token_pairs(
        size, n, settings.vocabulary, settings.block_size, generator=stream
    ).tokens[:, :-1]
    batch = draw_queries(kind, size, n, generator=stream, skipped=skipped)
    items, labels = (
        context[:, 0::2].gather(1, batch.wanted),
        context[:, 1::2].gather(1, batch.wanted),
    )
    logits = prefix_logits(model, context, items, batch.sizes)
    losses = cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return (losses.view_as(labels).mean(dim=0) * batch.weights.to(losses)).sum()


@torch.no_grad()
def _look(model: AttentionOnlyTransformer, probe: tasks.TokenBatch) -> Float[Tensor, ""]:
    """The loss on the fixed set."""
    return cross_entropy(model(probe.tokens, probe.positions)[:, -1], probe.target)
