"""One training of the transformer of §2: its loss, and its three matrices on the way."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from emergence import tasks
from emergence.models import AttentionOnlyTransformer, Mask
from emergence.running.devices import generator
from emergence.training import TokenTraining, query_logits, train_tokens

from .products import Products, logits, products_of

TEST_SEED = 10_000  # of sequences that no training sees
TEST_SEQUENCES = 32
MOMENTS = 5  # at which the matrices are kept, besides the start
DIRECTIONS = 512  # in which the residual stream is looked at


@dataclass(frozen=True)
class TransformerRun:
    """A training of §2 from one seed."""

    settings: TokenTraining
    seed: int
    device: str = "cpu"


@dataclass(frozen=True)
class Pictures:
    """Keeps the three matrices of Figure 2 every so many steps."""

    every: int

    def __call__(self, model: AttentionOnlyTransformer) -> tuple[np.ndarray, ...]:
        return tuple(products_of(model))


def describe_run(run: TransformerRun) -> dict[str, Any]:
    """Train, and keep the measures of §2 instead of the weights; a run of a sweep.

    Returns:
        `loss` and `accuracy` at each step; `moments`, numbers of updates from 0 to the last, and
        `layer1`, `layer2` and `output`, the three matrices of Figure 2 at each of these; `error`,
        the largest difference on new sequences between the dense network's logits and those of the
        three matrices; `singular`, the `singular_values` of the residual stream on these sequences.
        A run that diverges has a loss of infinity, and no more.
    """
    settings = run.settings
    pictures = Pictures(max(1, settings.steps // MOMENTS))
    try:
        with rounding_to_zero():
            record = train_tokens(
                settings,
                run.seed,
                device=torch.device(run.device),
                read=pictures,
                label=f"transformer, seed {run.seed}",
            )
    except ArithmeticError:
        return {"loss": np.full(settings.steps, np.inf)}
    model = record.model.double()
    few = tasks.TokenBatch(
        *(part.to(run.device) for part in unseen(settings, TEST_SEQUENCES, run.seed))
    )
    exact = query_logits(model, few, settings.mask, "dense").detach()
    matrices = zip(*record.readings.values(), strict=True)
    return {
        "loss": record.loss.numpy(),
        "accuracy": record.accuracy.numpy(),
        "moments": np.array(list(record.readings)),
        **dict(zip(Products._fields, map(np.stack, matrices), strict=True)),
        "error": float((logits(products_of(model), few, settings.mask) - exact).abs().max()),
        "singular": singular_values(model, few, settings.mask),
    }


@contextmanager
def rounding_to_zero() -> Iterator[None]:
    """Have this thread round denormal numbers, those below 1e-38, to zero.

    Attention that has saturated passes gradients back that are as small. They decide nothing, and
    products of them take several times as long; where training is unstable, last bits differ. A
    processor without that option goes on as it is.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def unseen(settings: TokenTraining, count: int, seed: int) -> tasks.TokenBatch:
    """Sequences that no training sees."""
    return tasks.token_pairs(
        count,
        settings.n_pairs,
        settings.vocabulary,
        settings.block_size,
        generator=generator(TEST_SEED + seed, torch.device("cpu")),
    )


@torch.no_grad()
def singular_values(
    model: AttentionOnlyTransformer, batch: tasks.TokenBatch, mask: Mask
) -> Float[np.ndarray, " values"]:
    """Singular values of the residual stream at every token, before, between and after the layers.

    In decreasing order, along as many random directions as a wide stream has to spare: that leaves
    a rank below their number as it is (§2.2).
    """
    stream = model.residual_stream(batch.tokens, batch.positions, mask=mask)
    vectors = torch.cat([part.flatten(0, 1) for part in stream])
    dim = vectors.shape[1]
    if dim > DIRECTIONS:
        directions = torch.randn(dim, DIRECTIONS, generator=generator(0, torch.device("cpu")))
        vectors = vectors @ directions.to(vectors) / dim**0.5
    return torch.linalg.svdvals(vectors).cpu().numpy()
