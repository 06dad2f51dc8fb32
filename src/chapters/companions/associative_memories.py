"""Weights as associative memories: what one gradient step stores, and how much fits.

A matrix stores random pairs of embeddings. A step of cross-entropy on u_k' W e_z has a closed form,
and so has the gradient of training, several times faster than autograd. The problem is convex:
L-BFGS finds its least loss. Capacity is the greatest number of pairs that a matrix or a Hebbian sum
stores, by search. The searches at the source's greatest width take about four minutes on one core,
so they are stored, in data/companions/associative_memories.json.

How many pairs should fit follows from the geometry of cones, without  W stores all pairs
if the N x N matrix of logits U W E' lies in the cone C in which the diagonal entry is the greatest
of its row. These matrices form a subspace of dimension d^2. A *random* subspace of that dimension
meets C if d^2 exceeds the statistical dimension of the polar cone (Amelunxen and others, 2014),
which is N times that of one row. This subspace is not random: the prediction is a heuristic.

The criterion and the widths are those of the code of Nichani and others (2024); a comment says
where ours differ.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.optimize import brentq, minimize
from scipy.stats import norm
from torch import Tensor
from torch.nn.functional import normalize

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import kept
from emergence.running.records import StoredRuns


@dataclass(frozen=True)
class Settings:
    """Widths and numbers of pairs, and how finely capacity is searched."""

    lemma_pairs: int = 32  # N of the one-step lemma
    eta: float = 1.0  # a step from zero is linear in it
    least_recall: float = 0.99  # share of the pairs at which they count as stored
    widths: tuple[int, ...] = (8, 16, 32, 64, 128)  # d of the matrix; source: to 256
    hebbian_widths: tuple[int, ...] = (16, 32, 64, 128, 256)
    hebbian_from: int = 64  # d from which its capacity is held to the expected one
    draws: int = 20  # a Hebbian capacity is that of the mean recall over as many draws
    tolerance: float = 1.03  # capacity is known within this factor; the fits need no more
    evaluations: int = 1500  # of the loss and its gradient, at most
    patience: int = 30  # evaluations without a fall of the loss by a hundredth end the training
    samples: int = 4000  # of the statistical dimension: a standard error of 1%


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


def recalled(w: Weights, u: Outputs, e: Inputs, f: Labels) -> float:
    """The share of z with argmax_k u_k' W e_z = f(z)."""
    return float(((e @ w.T @ u.T).argmax(dim=1) == f).double().mean())


class Pairs(NamedTuple):
    """Random unit embeddings of inputs and outputs; the first n of them are a smaller problem."""

    e: Float[Tensor, "n d"]
    u: Float[Tensor, "n d"]

    def first(self, n: int) -> "Pairs":
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


class _Enough(Exception):
    """The recall is reached, or the loss does not fall any more."""


def train(
    pairs: Pairs, *, least_recall: float, evaluations: int, patience: int
) -> tuple[float, float]:
    """Minimise the loss of W, from 0, by L-BFGS until so much is recalled, or the loss stalls.

    Returns the best recall and the last loss.
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
    return best, value


def row_dimensions(
    n: int, samples: int, rng: np.random.Generator, most: int = 128
) -> Float[np.ndarray, " samples"]:
    """Squared distances of Gaussian rows g from {x: x_1 >= x_j}; their mean is delta_N.

    The nearest point lifts g_1 to a level t and lowers every greater entry to it. Only the `most`
    greatest of the other entries are drawn, by Renyi's spacings; the level is far above the rest.
    """
    m = float(n - 1)
    k = int(min(m, most))
    gaps = rng.exponential(size=(samples, k)) / (m - np.arange(k))
    rest = norm.isf(-np.expm1(-np.cumsum(gaps, axis=1)))  # greatest first
    first = rng.standard_normal((samples, 1))
    means = (first + np.cumsum(rest, axis=1)) / np.arange(2, k + 2)  # of g_1 and the j greatest
    level = np.maximum(means.max(axis=1, keepdims=True), first)
    return (level - first)[:, 0] ** 2 + (np.clip(rest - level, 0, None) ** 2).sum(axis=1)


def row_dimension(n: int, samples: int, seed: int) -> float:
    """delta_N, about 2 ln N for very many pairs."""
    return float(row_dimensions(n, samples, np.random.default_rng(seed)).mean())


def expected_pairs(dim: int, samples: int, seed: int) -> float:
    """The N of N delta_N = d^2, by iteration: delta_N grows so slowly that it contracts.

    Raises ArithmeticError where the last iteration still moves N by a tenth: too few dimensions, or
    too few samples for the steps to be above their noise.
    """
    n = before = dim**2 / 4
    for _ in range(6):
        n, before = dim**2 / row_dimension(max(2, round(n)), samples, seed), n
    if abs(n - before) > 0.1 * n:
        raise ArithmeticError(f"the pairs at d = {dim} still move from {before:.4g} to {n:.4g}")
    return n


@kept
def hebbian_pairs(dim: int, recall: float) -> float:
    """The N of which the Hebbian sum recalls this share, to be expected from overlaps."""
    ends = np.log(2), 2 * np.log(dim)
    return float(np.exp(brentq(lambda x: step_recall(float(np.exp(x)), dim) - recall, *ends)))


def guide(parameters: float) -> float:
    """The N of N ln N = parameters."""
    return float(brentq(lambda n: n * np.log(n) - parameters, 1.0, parameters + 3.0))


class Bracket(NamedTuple):
    """Stored up to `stored` pairs, not any more at `lost`."""

    stored: int
    lost: int

    @property
    def capacity(self) -> float:
        """The geometric mean of both."""
        return (self.stored * self.lost) ** 0.5


def search(holds: Callable[[int], bool], guess: float, tolerance: float) -> Bracket:
    """Where `holds` turns false, within a factor or to the next integer, from a guess.

    Steps away from the guess grow until it is bracketed; then they are halved. One pair is known
    to be stored and is not tried.
    """
    first = max(2, round(guess / tolerance**0.5))
    factor = tolerance
    if holds(first):
        stored, lost = first, max(first + 1, round(first * factor))
        while holds(lost):
            factor **= 2
            stored, lost = lost, max(lost + 1, round(lost * factor))
    else:
        lost, stored = first, max(1, min(first - 1, round(first / factor)))
        while stored > 1 and not holds(stored):
            factor **= 2
            lost, stored = stored, max(1, min(stored - 1, round(stored / factor)))
    while lost > stored + 1 and lost > stored * tolerance * (1 + 1e-3) + 1:
        middle = round((stored * lost) ** 0.5)
        stored, lost = (middle, lost) if holds(middle) else (stored, middle)
    return Bracket(stored, lost)


@kept
def linear_capacity(
    dim: int, seed: int, guess: float, settings: Settings, device: torch.device
) -> Bracket:
    """Of a matrix that is trained by L-BFGS."""
    pairs = draw(int(4 * guess) + 8, dim, seed, device)

    def holds(n: int) -> bool:
        recall, _ = train(
            pairs.first(n),
            least_recall=settings.least_recall,
            evaluations=settings.evaluations,
            patience=settings.patience,
        )
        return recall >= settings.least_recall

    return search(holds, guess, settings.tolerance)


def hebbian_recall(n: int, dim: int, draws: int, seed: int, *, centred: bool = False) -> float:
    """The mean recall of the Hebbian sum, or of one gradient step (`centred`), over draws."""
    total = 0.0
    identity = torch.arange(n)
    for i in range(draws):
        pairs = draw(n, dim, seed * draws + i, torch.device("cpu"))
        u, e = pairs.u, pairs.e
        w = one_step(u, e, identity, n) if centred else u.T @ e
        total += recalled(w, u, e, identity)
    return total / draws


@kept
def hebbian_capacity(
    dim: int, seed: int, guess: float, settings: Settings, *, centred: bool = False
) -> Bracket:
    """The most pairs at which the mean recall over draws is high enough."""
    recall = partial(hebbian_recall, dim=dim, draws=settings.draws, seed=seed, centred=centred)
    return search(lambda n: recall(n) >= settings.least_recall, guess, settings.tolerance)


@dataclass(frozen=True)
class Cell:
    """A trained matrix: its width d and the seed of the pairs."""

    dim: int
    seed: int


PAPER = Settings()
FIRST_SEED = 0
CELLS = tuple(Cell(256, seed) for seed in range(FIRST_SEED, FIRST_SEED + 5))


def run(cell: Cell, settings: Settings = PAPER) -> dict[str, int]:
    """The capacity of a trained matrix, as it is stored; the search starts from the cone's."""
    guess = expected_pairs(cell.dim, settings.samples, cell.seed)
    return linear_capacity(cell.dim, cell.seed, guess, settings, torch.device("cpu"))._asdict()


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, Bracket]:
    """The capacities of a file. Raises ValueError for one of other runs."""
    return {cell: Bracket(**fields) for cell, fields in RUNS.read(text).items()}
