"""Pulls of the gradient on each part of the head, by stage of what is in place already.

A pull is minus the gradient's component along a memory's outer-product sum: what one step of
descent adds to the memory.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.birth import fast, task
from chapters.companions.birth.bigrams import Bigrams
from chapters.companions.birth.model import Frozen, Trained, from_parts, initial, parts
from chapters.companions.two_accounts import readings
from emergence.subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed
from emergence.training import MinimalTraining, gradient_samples, train_minimal
from running.devices import generator
from running.memo import kept

from . import TwoAccountsSettings
from .readings import AssociativeMemory

STAGES = 4  # nothing, output, output and match, all three in place


def along(memory: AssociativeMemory) -> float:
    """The component of the matrix along its outer-product sum of norm 1."""
    return float(memory.table.trace() / memory.target.norm())


def minimal(
    settings: TwoAccountsSettings,
    values: Sequence[tuple[str, float]],
    *,
    seed: int,
    device: torch.device,
) -> Float[np.ndarray, "batches 3"]:
    """Pulls on gamma_3, beta_2, alpha_3 in the full model with these pseudo-parameters alone."""
    given = torch.zeros(len(NAMES))
    for name, value in values:
        given[NAMES.index(name)] = value
    weights = embed(PseudoParameters.unstack(given), settings.minimal.dim)
    stream = generator(seed, device)
    gradient = gradient_samples(settings.minimal, weights, settings.pull_batches, stream=stream)
    columns = [NAMES.index(name) for name in reversed(INDUCTION_HEAD)]
    # a pseudo-parameter's matrix has norm sqrt(D)
    return -(settings.minimal.dim**0.5 * gradient[:, columns]).double().numpy()


def minimal_stages(settings: TwoAccountsSettings) -> tuple[tuple[tuple[str, float], ...], ...]:
    """What is in place: gamma_3 as in Definition 1, the others as planted scores.

    Gaussian vectors have a squared norm of D, so that a score is D times the pseudo-parameter.
    """
    score = settings.planted / settings.minimal.dim
    placed = ("gamma_3", 0.5), ("beta_2", score), ("alpha_3", score)
    return tuple(placed[:count] for count in range(STAGES))


def first_step(settings: MinimalTraining, seeds: Sequence[int], device: torch.device) -> float:
    """Norm of W1 and W2 over that of W3 after one step from zero, the greatest over seeds."""
    record = train_minimal(replace(settings, steps=1, snapshots=(1,)), seeds, device=device)
    w1, w2, w3 = (part.square().sum(dim=(-2, -1)).sqrt() for part in record.snapshots[1])
    return float(((w1 + w2) / w3).max())


@kept
def stream(
    settings: TwoAccountsSettings, bigrams: Bigrams, seed: int, *, device: torch.device
) -> tuple[Float[np.ndarray, "stages 3"], Float[np.ndarray, "stages 3"]]:
    """Pulls in the model of bigrams, all else zero, and their cosines with the whole gradient.

    A gradient that is zero has cosine 0.
    """
    what, draw = settings.stream, generator(seed, device)
    chain = task.make(bigrams, what.n_triggers, device)
    frozen, _ = initial(chain.n_tokens, what.length, what.dim, 2, generator=draw)
    batches = [
        task.sample(chain, what.batch_size, what.length, generator=draw)
        for _ in range(max(1, settings.pull_batches // 4))  # embeddings are averaged over seeds
    ]
    nothing = frozen.ov1.new_zeros(())
    pulls, cosines = [], []
    for count in range(STAGES):
        trained = planted_head(frozen, chain.triggers, settings.planted, count)
        found = [fast.loss_and_gradient(frozen, trained, batch).gradient for batch in batches]
        mean = [sum(each, nothing) / -len(batches) for each in zip(*map(parts, found), strict=True)]
        head = readings.stream_head(frozen, from_parts(mean), chain.triggers)
        norms = [max(float(memory.weight.norm()), 1e-30) for memory in head]
        pulls.append([along(memory) for memory in head])
        cosines.append([pull / norm for pull, norm in zip(pulls[-1], norms, strict=True)])
    return np.array(pulls), np.array(cosines)


def planted_head(
    frozen: Frozen, triggers: Int[Tensor, " k"], strength: float, count: int
) -> Trained:
    """The first `count` parts of the head as outer-product sums, the others zero."""
    zero = torch.zeros_like(frozen.ov1)
    head = readings.stream_head(frozen, from_parts([zero] * 3), triggers)
    written = [readings.planted(memory, strength) for memory in head]
    output, match, previous = (part if i < count else zero for i, part in enumerate(written))
    root = frozen.e.shape[-1] ** 0.5  # scores are divided by it
    return Trained((root * previous, root * match), output.T.contiguous())


def premature(pulls: Float[np.ndarray, "stages 3"]) -> float:
    """The greatest premature gradient of match and previous token, over that at their time."""
    match, previous = np.abs(pulls[:, 1]), np.abs(pulls[:, 2])
    return float(max(match[0] / match[1], previous[:2].max() / previous[2]))
