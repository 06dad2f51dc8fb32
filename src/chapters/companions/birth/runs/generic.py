"""The source's generic transformer with layer norms, feed-forward layers and heads, all trained.

As in the published code the feed-forward layer reads the stream that its block's attention reads,
and the loss counts every position.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from running import loop
from running.cache import Task
from running.devices import generator

from .. import task
from ..bigrams import Bigrams
from ..model import linear
from ..training import POOL


@dataclass(frozen=True)
class Generic:
    """Settings; the source's defaults except where a comment says otherwise."""

    n_layers: int = 1
    length: int = 256  # T
    dim: int = 128  # d
    n_heads: int = 4
    batch_size: int = 64
    n_triggers: int = 5  # k
    random_triggers: bool = False
    learning_rate: float = 0.01
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.99)
    steps: int = 400  # ours: the source does not say


class Block(NamedTuple):
    """The trained parts of a layer; matrices are (outputs, inputs)."""

    norms: Float[Tensor, "2 2 d"]  # of attention and feed-forward: scale, shift
    qkv: Float[Tensor, "3*d d"]
    o: Float[Tensor, "d d"]
    w_in: Float[Tensor, "4*d d"]
    w_out: Float[Tensor, "d 4*d"]


class Parts(NamedTuple):
    """All that is trained."""

    e: Float[Tensor, "N d"]
    p: Float[Tensor, "T d"]
    blocks: tuple[Block, ...]
    norm: Float[Tensor, "2 d"]  # before the output
    u: Float[Tensor, "N d"]

    @property
    def flat(self) -> list[Tensor]:
        """Every tensor once."""
        inner = [part for block in self.blocks for part in block]
        return [self.e, self.p, *inner, self.norm, self.u]


class Record(NamedTuple):
    """Loss over all positions and accuracy at scored ones, of each fresh batch before its step."""

    loss: Float[np.ndarray, " steps"]
    accuracy: Float[np.ndarray, " steps"]
    parts: Parts


def initial(n_tokens: int, settings: Generic, *, generator: torch.Generator) -> Parts:
    """PyTorch's defaults, as in the code: embeddings N(0, 1), matrices U(-1, 1)/sqrt(inputs)."""

    d = settings.dim
    matrices = (3 * d, d), (d, d), (4 * d, d), (d, 4 * d)
    norm = torch.stack([torch.ones(d), torch.zeros(d)])
    blocks = tuple(
        Block(torch.stack([norm, norm]), *(linear(*shape, generator) for shape in matrices))
        for _ in range(settings.n_layers)
    )
    e, p = (torch.randn(rows, d, generator=generator) for rows in (n_tokens, settings.length))
    return Parts(e, p, blocks, norm, linear(n_tokens, d, generator))


def logits(
    parts: Parts, tokens: Int[Tensor, "batch T"], n_heads: int
) -> Float[Tensor, "batch T N"]:
    """Next-token logits at every position."""
    x = parts.e[tokens] + parts.p[: tokens.shape[1]]
    for block in parts.blocks:
        read = _normed(x, block.norms[0]) @ block.qkv.T
        q, k, v = (
            part.unflatten(2, (n_heads, -1)).transpose(1, 2) for part in read.chunk(3, dim=2)
        )
        found = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        told = (_normed(x, block.norms[1]) @ block.w_in.T).relu() @ block.w_out.T
        x = x + found.transpose(1, 2).flatten(2) @ block.o.T + told
    return _normed(x, parts.norm) @ parts.u.T


def train(settings: Generic, bigrams: Bigrams, seed: int, *, label: str = "training") -> Record:
    """Train one model on the processor. Raises ArithmeticError when the run diverges."""
    stream = generator(seed, torch.device("cpu"))
    what = task.make(bigrams, settings.n_triggers, random_triggers=settings.random_triggers)
    parts = initial(what.n_tokens, settings, generator=stream)
    for part in parts.flat:
        part.requires_grad_()
    optimiser = torch.optim.AdamW(
        parts.flat, lr=settings.learning_rate, weight_decay=settings.weight_decay,
        betas=settings.betas,
    )  # fmt: skip
    rows: list[tuple[float, float]] = []
    pool: list[Tensor] = []
    name = Task.of(train, settings=settings, bigrams=bigrams.sha256, seed=seed)
    for step in loop.steps(
        name, settings.steps, label, trained=tuple(parts.flat), optimiser=optimiser,
        stream=stream, pool=pool, rows=rows,
    ):  # fmt: skip
        size = settings.batch_size
        if step % POOL == 0:
            pool[:] = task.sample(what, POOL * size, settings.length, generator=stream)
        batch = task.Batch(*(part[step % POOL * size :][:size] for part in pool))
        optimiser.zero_grad()
        out = logits(parts, batch.tokens, settings.n_heads)
        loss = functional.cross_entropy(out.flatten(0, 1), batch.targets.flatten())
        loss.backward()
        optimiser.step()
        right = (out.argmax(dim=2) == batch.targets)[batch.scored]
        rows.append((loss.item(), float(right.double().mean())))
        loop.check_finite(rows[-1][0], label, step)
    losses, accuracies = np.array(rows).T
    return Record(losses, accuracies, parts)


def _normed(x: Float[Tensor, "*any d"], norm: Float[Tensor, "2 d"]) -> Float[Tensor, "*any d"]:
    return functional.layer_norm(x, x.shape[-1:], norm[0], norm[1])
