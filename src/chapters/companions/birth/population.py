"""Three gradient steps on the population loss, by enumeration of all sequences.

The simplified setup is ours, after the talk's theorem: orthonormal embeddings, zero weights, a
trigger q that any token may be, at some place and again at the end, and its output o, which the
last position is to answer. All else is uniform noise without q. The first token is never q,
because it could attend only to itself.
"""

import itertools
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from running.memo import kept

from .attention import recall
from .model import Frozen, Trained, from_parts, loss_and_gradient, parts
from .task import Batch

PARTS = "W_{OV}^2", "W_{KQ}^2", "W_{KQ}^1"


class Step(NamedTuple):
    """After a step on one matrix: recalls of OV2, KQ2, KQ1, and how well the model answers."""

    part: str
    recalls: tuple[float, float, float]
    loss: float
    accuracy: float


def sequences(n_tokens: int, length: int) -> Int[Tensor, "count T"]:
    """All sequences with q = 0 and o = 1; the others follow by renaming tokens."""
    noises = list(itertools.product(range(1, n_tokens), repeat=length - 3))
    firsts = range(1, length - 2)
    return torch.tensor([[*n[:first], 0, 1, *n[first:], 0] for first in firsts for n in noises])


def orthonormal(n_tokens: int, length: int) -> Frozen:
    """Embeddings, their images under W_OV^1 and output embeddings, all unit vectors of an axis."""
    n = n_tokens + length
    axes = torch.eye(2 * n + n_tokens, dtype=torch.float64)
    ov1 = torch.zeros_like(axes)
    ov1[n : 2 * n, :n] = torch.eye(n)
    return Frozen(axes[:n_tokens], axes[n_tokens:n], axes[2 * n :], ov1, axes)


def gradient(
    frozen: Frozen, trained: Trained, tokens: Int[Tensor, "count T"]
) -> tuple[float, float, tuple[Tensor, ...]]:
    """Loss and accuracy at the last position; the gradient by W_OV^2, W_KQ^2 and W_KQ^1.

    Averaged over all renamings of the tokens, so that it is the gradient of the population.
    """
    last = (torch.arange(tokens.shape[1]) == tokens.shape[1] - 1).expand_as(tokens)
    batch = Batch(tokens, torch.ones_like(tokens), last)
    loss, accuracy, pulls = loss_and_gradient(frozen, trained, batch)
    shape = len(frozen.e), len(frozen.p)
    return loss, accuracy, tuple(renamed(pull, *shape) for pull in reversed(parts(pulls)))


def renamed(matrix: Float[Tensor, "d d"], n_tokens: int, length: int) -> Float[Tensor, "d d"]:
    """The average of a matrix over all renamings of the tokens, in the axes of `orthonormal`."""
    n = n_tokens + length
    edges = [0, n_tokens, n, n + n_tokens, 2 * n, 2 * n + n_tokens]
    spans = [slice(*pair) for pair in itertools.pairwise(edges)]
    result = torch.empty_like(matrix)
    for (i, rows), (j, columns) in itertools.product(enumerate(spans), repeat=2):
        block = matrix[rows, columns]
        if i % 2 == 0 and j % 2 == 0:  # tokens against tokens: the same, or different
            same = block.diagonal().mean()
            other = (block.sum() - block.diagonal().sum()) / (n_tokens * (n_tokens - 1))
            block = torch.full_like(block, float(other))
            block.fill_diagonal_(float(same))
        elif i % 2 == 0 or j % 2 == 0:  # tokens against positions
            block = block.mean(dim=i % 2, keepdim=True)
        result[rows, columns] = block
    return result


def tracked(n_tokens: int, length: int) -> Float[Tensor, "3 d d"]:
    """1 in the block where each memory lies: tokens to outputs, tokens to images, positions."""
    n = n_tokens + length
    masks = torch.zeros(3, 2 * n + n_tokens, 2 * n + n_tokens, dtype=torch.float64)
    masks[0, 2 * n :, :n_tokens] = 1
    masks[1, :n_tokens, n : n + n_tokens] = 1
    masks[2, n_tokens:n, n_tokens:n] = 1
    return masks


def recalls(trained: Trained, n_tokens: int, length: int) -> tuple[float, float, float]:
    """Recalls of the three memories, positions from those at which an output can stand."""
    n = n_tokens + length
    return (
        recall(trained.o[2 * n :, :n_tokens].T),
        recall(trained.kq[1][:n_tokens, n : n + n_tokens]),
        recall(trained.kq[0][n_tokens + 2 : n - 1, n_tokens + 1 : n - 2]),
    )


@kept
def three_steps(
    n_tokens: int,
    length: int,
    sizes: tuple[float, float, float],
    *,
    order: tuple[int, int, int] = (0, 1, 2),
    all_blocks: bool = False,
) -> list[Step]:
    """One step on each of PARTS in turn, each so long that its largest entry is its size.

    Without `all_blocks` only the block of the matrix moves in which its memory lies.
    """
    frozen, tokens = orthonormal(n_tokens, length), sequences(n_tokens, length)
    masks = tracked(n_tokens, length)
    weights = [torch.zeros_like(frozen.ov1) for _ in range(3)]
    steps = []
    pulls = gradient(frozen, from_parts(weights[::-1]), tokens)[2]
    for which in order:
        pull = pulls[which] if all_blocks else pulls[which] * masks[which]
        largest = pull.abs().max()
        if largest > 0:
            weights[which] = -sizes[which] * pull / largest
        trained = from_parts(weights[::-1])
        loss, accuracy, pulls = gradient(frozen, trained, tokens)
        steps.append(Step(PARTS[which], recalls(trained, n_tokens, length), loss, accuracy))
    return steps
