"""A matrix that stores random pairs of embeddings, its loss, and its training.

All pairs are trained at once with cross-entropy, whose gradient is written out, several times
faster than autograd. The logits are the largest arrays of both companions that use this. Here they
are made in blocks small enough for a processor's cache, and overwritten in place.

The problem is convex: L-BFGS finds its least loss.

Gradients as associative memories: a step of cross-entropy on u_k' W e_z in closed form.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize
from scipy.stats import norm
from torch import Tensor
from torch.nn.functional import normalize

from emergence.running import loop
from emergence.running.devices import generator

Inputs = Float[Tensor, "z d"]
Outputs = Float[Tensor, "k d"]
Labels = Int[Tensor, " z"]  # f(z)
Weights = Float[Tensor, "d d"]
Joint = Float[Tensor, "z k"]
Logits = Float[Tensor, "z k"]


def unit(z: int, dim: int, stream: torch.Generator, dtype: torch.dtype) -> Inputs:
    """Embeddings drawn uniformly from the unit sphere."""
    drawn = torch.randn(z, dim, generator=stream, device=stream.device, dtype=dtype)
    return normalize(drawn, dim=1)


def orthonormal(z: int, dim: int, stream: torch.Generator, dtype: torch.dtype) -> Inputs:
    """Orthonormal embeddings; ValueError if there are more than dimensions."""
    if z > dim:
        raise ValueError(f"{z} embeddings cannot be orthonormal in {dim} dimensions")
    drawn = torch.randn(dim, z, generator=stream, device=stream.device, dtype=dtype)
    return torch.linalg.qr(drawn).Q.T


def gradient(w: Weights, u: Outputs, e: Inputs, joint: Joint) -> Weights:
    """The lemma: sum over k of E_z[(p_W(k|z) - p(k|z)) u_k e_z'], `joint` being p(z, y)."""
    predicted = torch.softmax(e @ w.T @ u.T, dim=1) * joint.sum(dim=1, keepdim=True)
    return u.T @ (predicted - joint).T @ e


def autograd(w: Tensor, logits: Callable[[Tensor], Logits], joint: Joint) -> Tensor:
    """The gradient of the loss itself by the weights that the logits are a function of."""
    w = w.clone().requires_grad_()
    said = torch.log_softmax(logits(w), dim=1)
    return torch.autograd.grad(-(joint * said).sum(), w)[0]


def one_step(u: Outputs, e: Inputs, f: Labels, eta: float) -> Weights:
    """W after one step from 0 for y = f(z), z uniform: a centred Hebbian sum."""
    n = len(e)
    memories = u.new_zeros(len(u), n)
    memories[f, torch.arange(n, device=u.device)] = 1.0
    return eta / n * u.T @ (memories - 1 / len(u)) @ e


def step_recall(n: float, dim: int) -> float:
    """The share of n pairs that one step recalls with random unit vectors, to be expected.

    With x the product of two outputs and y that of their inputs, one is ahead of the other by
    (1 - x)(1 - y) and what the other pairs add. That is s g for the output itself and
    s (x g + sqrt(1 - x^2) h) for the other, with s^2 = n/d^2 and g, h taken as normal.
    """
    far = min(1.0, 9 / dim**0.5)  # in standard deviations of a product, where it is not 1
    x = np.linspace(-far, far, 203)[1:-1]
    overlap = np.exp((dim - 3) / 2 * np.log1p(-(x**2)))  # the density of a product
    overlap /= overlap.sum()
    g, weights = np.polynomial.hermite_e.hermegauss(32)
    spread = n**0.5 / dim
    ahead = (1 - x)[:, None] * (1 - x + spread * g[:, None, None])  # by g, x and y
    beaten = norm.sf(ahead / (spread * np.sqrt(1 - x**2)[:, None]))
    lost = np.einsum("gxy,x,y->g", beaten, overlap, overlap).clip(0, 1 - 1e-15)
    return float(weights @ np.exp((n - 1) * np.log1p(-lost)) / weights.sum())


def hebbian(u: Outputs, e: Inputs, f: Labels) -> Weights:
    """The sum of u_{f(z)} e_z'."""
    return u[f].T @ e


def recalled(w: Weights, u: Outputs, e: Inputs, f: Labels) -> float:
    """The share of z with argmax_k u_k' W e_z = f(z)."""
    return float(((e @ w.T @ u.T).argmax(dim=1) == f).double().mean())


class Pairs(NamedTuple):
    """Random unit embeddings of inputs and outputs; the first n of them are a smaller problem."""

    e: Float[Tensor, "n d"]
    u: Float[Tensor, "n d"]

    def first(self, n: int) -> "Pairs":
        """The first n pairs."""
        return Pairs(self.e[:n], self.u[:n])


def draw(n: int, dim: int, seed: int, device: torch.device) -> Pairs:
    """Pairs of one seed; the first ones do not depend on n."""
    streams = (generator(2 * seed + i, torch.device("cpu")) for i in (0, 1))
    return Pairs(*(unit(n, dim, s, torch.float32).to(device) for s in streams))


BLOCK = 2**19  # logits held at once
FLOOR = -60.0  # exp of less would end in denormal numbers, which are slow, and is nothing


class Scored(NamedTuple):
    """Mean loss of each run, its gradient by h, and which rows have their target on top."""

    loss: Float[Tensor, " runs"]
    gradient: Float[Tensor, "runs n d"]
    right: Bool[Tensor, "runs n"]


@torch.no_grad()
def scored(
    h: Float[Tensor, "runs n d"], u: Float[Tensor, "runs k d"], target: Int[Tensor, "runs n"]
) -> Scored:
    """Softmax cross-entropy of the logits h u'. A tie with the target counts against it."""
    runs, n, _ = h.shape
    losses, gradients, rights = [], [], []
    for rows in range(0, n, size := max(1, BLOCK // (runs * u.shape[1]))):
        answer = target[:, rows : rows + size, None]
        logits = h[:, rows : rows + size] @ u.mT
        wanted = logits.gather(2, answer)
        others = logits.scatter_(2, answer, -torch.inf).amax(2, keepdim=True)
        top = torch.maximum(wanted, others)
        weights = logits.sub_(top).clamp_(min=FLOOR).exp_()  # nothing at the target
        rest = weights.sum(2, keepdim=True)
        at_target = (wanted - top).exp()
        total = rest + at_target
        losses.append((total.log() + top - wanted).sum((1, 2)))
        rights.append((wanted > others)[..., 0])
        weights.scatter_(2, answer, -rest).div_(
            total * n
        )  # -rest/total is p - 1 without cancelling
        gradients.append(weights @ u)
    return Scored(sum(losses, h.new_zeros(())) / n, torch.cat(gradients, 1), torch.cat(rights, 1))


class TrainedMemory(NamedTuple):
    """What training reached: best recall and last loss."""

    recall: float
    loss: float


class _Enough(Exception):
    """The recall is reached, or the loss does not fall any more."""


def train(pairs: Pairs, *, least_recall: float, evaluations: int, patience: int) -> TrainedMemory:
    """Minimise the loss of W, from 0, by L-BFGS until so much is recalled, or the loss stalls.

    The state of scipy's L-BFGS cannot be taken out between two evaluations, so a run that is
    interrupted begins anew. Raises ArithmeticError when it diverges.
    """
    target = torch.arange(len(pairs.e), device=pairs.e.device)
    dim = pairs.e.shape[1]
    best, least, since, count, value = 0.0, np.inf, 0, 0, np.inf

    def objective(flat: Float[np.ndarray, " parameters"]) -> tuple[float, np.ndarray]:
        nonlocal best, least, since, count, value
        w = torch.from_numpy(flat).float().to(pairs.e.device).view(dim, dim)
        now = scored((pairs.e @ w.mT)[None], pairs.u[None], target[None])
        loop.check_finite(now.loss, "L-BFGS", count)
        value, count = float(now.loss), count + 1
        best = max(best, float(now.right.double().mean()))
        since = 0 if value < 0.99 * least else since + 1
        least = min(least, value)
        if best >= least_recall or since >= patience:
            raise _Enough
        gradient = (pairs.e.mT @ now.gradient[0]).mT
        return value, gradient.flatten().double().cpu().numpy()

    options = {"maxfun": evaluations, "maxiter": evaluations, "maxcor": 20, "ftol": 0, "gtol": 0}
    with suppress(_Enough):
        minimize(objective, np.zeros(dim**2), jac=True, method="L-BFGS-B", options=options)
    return TrainedMemory(best, value)
