"""Training with both probes at hand: three models, one kind of record."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn.functional import cross_entropy

from ... import tasks
from ...models import AttentionOnlyTransformer, Weights
from ...progress import steps as counted
from ...training import generator, query_logits, train_minimal
from ..birth import fast, task
from ..birth.bigrams import Bigrams
from ..birth.model import initial
from . import circuits
from .circuits import Head
from .memory import Reading, read
from .settings import Settings

POOL = 8  # batches of a stream drawn at once, as in chapter 07


class Curves(NamedTuple):
    """Readings during training; the last two axes are the parts of `Head` and of `Reading`."""

    steps: Int[np.ndarray, " times"]
    readings: Float[np.ndarray, "seeds times 3 6"]
    sizes: tuple[int, ...]  # M of each memory
    final: Float[np.ndarray, " seeds"]  # loss (minimal) or accuracy at the end of training

    def of(self, probe: str) -> Float[np.ndarray, "3 seeds times"]:
        """One field of `Reading`, memory by memory."""
        return self.readings[..., Reading._fields.index(probe)].transpose(2, 0, 1)


def _read(head: Head, few: int) -> list[Reading]:
    return [read(memory, few) for memory in head]


def _curves(runs: Sequence[dict[int, list[Reading]]], head: Head, final: list[float]) -> Curves:
    return Curves(
        np.array([*runs[0]]),
        np.array([[*run.values()] for run in runs], dtype=float),
        tuple(len(memory.left) for memory in head),
        np.array(final),
    )


def minimal(settings: Settings, seeds: Sequence[int], *, device: torch.device) -> Curves:
    """The disentangled transformer, all weights free, all seeds at once."""
    what = replace(settings.minimal, snapshots=settings.read_at())
    record = train_minimal(what, seeds, device=device, label="minimal")
    runs = []
    for i in range(len(seeds)):
        heads = {
            step: circuits.minimal(Weights(*(part[i] for part in weights)))
            for step, weights in record.snapshots.items()
        }
        runs.append({step: _read(head, settings.few) for step, head in heads.items()})
    return _curves(runs, heads[0], record.loss[:, -1].tolist())


def tokens(settings: Settings, seeds: Sequence[int], *, device: torch.device) -> Curves:
    """The transformer of §2 by AdamW, as `training.train_tokens` does it."""
    what, runs, final = settings.tokens, [], []
    for seed in seeds:
        stream, found, hits = generator(seed, device), {}, []
        model = AttentionOnlyTransformer(
            what.dim, what.vocabulary, what.block_size,
            embedding_scale=what.embedding_scale, generator=stream,
        )  # fmt: skip
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=what.learning_rate, weight_decay=what.weight_decay, fused=True
        )
        for step in counted(f"tokens, seed {seed}", what.steps):
            if step % settings.every_token == 0:
                found[step] = _read(circuits.tokens(model), settings.few)
            batch = tasks.token_pairs(
                what.batch_size, what.n_pairs, what.vocabulary, what.block_size, generator=stream
            )
            logits = query_logits(model, batch, what.mask, "fast")
            optimiser.zero_grad()
            cross_entropy(logits, batch.target).backward()
            optimiser.step()
            hits.append(float((logits.argmax(dim=1) == batch.target).double().mean()))
        head = circuits.tokens(model)
        found[what.steps] = _read(head, settings.few)
        runs.append(found)
        final.append(float(np.mean(hits[-20:])))
    return _curves(runs, head, final)


def stream(
    settings: Settings, bigrams: Bigrams, seeds: Sequence[int], *, device: torch.device
) -> Curves:
    """The model of bigrams in context by descent with momentum, as chapter 07 does it."""
    what, runs, final = settings.stream, [], []
    chain = task.make(bigrams, what.n_triggers, device)
    for seed in seeds:
        draw, found, hits = generator(seed, device), {}, []
        frozen, trained = initial(chain.n_tokens, what.length, what.dim, 2, generator=draw)
        free = [*trained.kq, trained.o]
        optimiser = torch.optim.SGD(
            free, lr=what.learning_rate, momentum=what.momentum, weight_decay=what.weight_decay
        )
        for step in counted(f"stream, seed {seed}", what.steps):
            if step % settings.every == 0:
                found[step] = _read(circuits.stream(frozen, trained, chain.triggers), settings.few)
            if step % POOL == 0:
                pool = task.sample(chain, POOL * what.batch_size, what.length, generator=draw)
            first = step % POOL * what.batch_size
            batch = task.Batch(*(part[first : first + what.batch_size] for part in pool))
            measured = fast.loss_and_gradient(frozen, trained, batch)
            pulls = (*measured.gradient.kq, measured.gradient.o)
            for part, pull in zip(free, pulls, strict=True):
                part.grad = pull
            optimiser.step()
            hits.append(measured.accuracy)
        head = circuits.stream(frozen, trained, chain.triggers)
        found[what.steps] = _read(head, settings.few)
        runs.append(found)
        final.append(float(np.mean(hits[-20:])))
    return _curves(runs, head, final)
