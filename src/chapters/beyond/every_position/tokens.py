"""Training of the transformer of §2 with queries of several prefixes of one context (App. E)."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding

from emergence import tasks
from emergence.models import AttentionOnlyTransformer, allowed_positions, attention
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.training import (
    Kind,
    TokenTraining,
    draw_queries,
    initial_transformer,
    token_optimiser,
)

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
    `supervision.asked`.

    Returns:
        Updates made before each look, and the loss in nats of the fixed set; it is infinite at the
        last look if the run diverges.
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
        loss = _batch_loss(settings, kind, model, stream, skipped)
        if not loss.isfinite():
            looks.append((step, torch.tensor(torch.inf)))
            continue
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    steps, losses = zip(*looks, strict=True)
    return np.array(steps, dtype=float), np.array([float(loss) for loss in losses])


def _batch_loss(
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
