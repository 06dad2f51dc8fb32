"""The theorem of small times: what gradient flow from zero weights does first, from data alone.

Both models answer linearly in the last matrix W3. To leading order the loss acts through ell(W1,
W2, W3), the mean of <g, answer> with g the loss's gradient at what a model of zero weights answers.
Derivatives of ell at zero weights are moments of the data.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from chapters.companions.birth import model, task
from emergence.models import Weights, disentangled_output
from emergence.running.memo import kept


class Parts(NamedTuple):
    """A value for each of the three matrices: key-query 1, key-query 2, output."""

    w1: Float[Tensor, "n1 m1"]
    w2: Float[Tensor, "n2 m2"]
    w3: Float[Tensor, "n3 m3"]


Value = Callable[[Parts], Tensor]  # a number, differentiable


class Moments(NamedTuple):
    """The coefficients of the theorem, to leading order in each way that a matrix moves.

    W3 = t output, W2 = t^2 match, W1 = t direct + t^2 leak + t^4 previous.
    """

    output: Float[Tensor, "n3 m3"]
    match: Float[Tensor, "n2 m2"]
    direct: Float[Tensor, "n1 m1"]
    leak: Float[Tensor, "n1 m1"]
    previous: Float[Tensor, "n1 m1"]

    def at(self, time: float) -> Parts:
        """The weights after so much time, to the order of the theorem."""
        return Parts(
            time * self.direct + time**2 * self.leak + time**4 * self.previous,
            time**2 * self.match,
            time * self.output,
        )


def moments(
    linear: Sequence[Value], zero: Parts, keep: Callable[[Parts], Parts] = lambda parts: parts
) -> Moments:
    """The moments of several batches, each given by its ell; `keep` projects what is averaged.

    At zero, output = -d3 ell and direct = -d1 ell. With W3 = output, match = -1/2 d2 ell, leak is
    -1/2 of what that adds to d1 ell, and previous -1/4 of the change of d1 ell along W2 = match.
    """
    nothing = Parts(*map(torch.zeros_like, zero))

    def mean(gradients: Sequence[Parts]) -> Parts:
        each = zip(zip(*gradients, strict=True), nothing, strict=True)
        return keep(Parts(*(sum(parts, start) / len(gradients) for parts, start in each)))

    start = mean([_gradient(value, zero) for value in linear])
    output, direct = -start.w3, -start.w1
    second = zero._replace(w3=output)
    later = mean([_gradient(value, second) for value in linear])
    match, leak = -later.w2 / 2, -(later.w1 - start.w1) / 2

    def mixed(value: Value) -> Parts:
        free = _free(second)
        along = torch.autograd.grad(value(free), free.w2, create_graph=True)[0]
        return nothing._replace(w1=torch.autograd.grad((along * match).sum(), free.w1)[0])

    return Moments(output, match, direct, leak, -mean([*map(mixed, linear)]).w1 / 4)


def _free(at: Parts) -> Parts:
    return Parts(*(part.detach().requires_grad_() for part in at))


def _gradient(value: Value, at: Parts) -> Parts:
    free = _free(at)
    return Parts(*torch.autograd.grad(value(free), free))


@kept
def flow(loss: Value, zero: Parts, times: Sequence[float]) -> list[Parts]:
    """The weights at rising times under gradient flow of a loss, a Runge-Kutta step per time."""
    now, before, coefficients = zero, 0.0, []
    for time in times:
        step, slopes = time - before, [_gradient(loss, now)]
        for share in (0.5, 0.5, 1.0):
            slopes.append(_gradient(loss, _moved(now, slopes[-1], -share * step)))
        for slope, share in zip(slopes, (1, 2, 2, 1), strict=True):
            now = _moved(now, slope, -share * step / 6)
        coefficients.append(now)
        before = time
    return coefficients


def _moved(now: Parts, slope: Parts, by: float) -> Parts:
    return Parts(*(part + by * pull for part, pull in zip(now, slope, strict=True)))


class Problem(NamedTuple):
    """A loss on one batch, its ell, and zero weights."""

    loss: Value
    linear: Value
    zero: Parts


def minimal(
    inputs: Float[Tensor, "batch length width"],
    target: Float[Tensor, "batch dim"],
    *,
    leaks: bool = True,
) -> Problem:
    """The disentangled transformer with the squared loss, a mean over dimensions.

    Without leaks the output does not read what layer 1 retrieved: gamma_2 and gamma_4 stay 0.
    """
    dim = target.shape[-1]
    read = torch.ones(8, 1, 1, dtype=inputs.dtype, device=inputs.device)
    if not leaks:
        read[[2, 3, 6, 7]] = 0
    zero = Parts(*(inputs.new_zeros(k * dim, (k if k < 8 else 1) * dim) for k in (2, 4, 8)))

    def output(parts: Parts) -> Tensor:
        w3 = (parts.w3.view(8, dim, dim) * read).view(8 * dim, dim)
        return disentangled_output(Weights(parts.w1, parts.w2, w3), inputs)

    return Problem(
        lambda parts: (output(parts) - target).square().mean(),
        lambda parts: -2 * (output(parts) * target).mean(),
        zero,
    )


def stream(frozen: model.Frozen, batch: task.Batch) -> Problem:
    """The model of bigrams in context with cross-entropy at scored positions; W3 is o."""
    wanted = batch.targets[batch.scored]
    zero = Parts(*[torch.zeros_like(frozen.ov1)] * 3)

    def logits(parts: Parts) -> Tensor:
        return model.logits(frozen, model.from_matrices(parts), batch.tokens)[batch.scored]

    pull = logits(zero).softmax(dim=-1)
    pull[torch.arange(len(wanted)), wanted] -= 1
    return Problem(
        lambda parts: torch.nn.functional.cross_entropy(logits(parts), wanted),
        lambda parts: (pull * logits(parts)).sum(dim=-1).mean(),
        zero,
    )


def turning_time(leak: float, previous: float) -> float:
    """When t^2 leak + t^4 previous is 0 again; infinity if both have the same sign."""
    return (-leak / previous) ** 0.5 if leak * previous < 0 else float("inf")
