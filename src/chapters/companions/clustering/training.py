"""The network of the source, trained by full-batch AdamW, one a seed; markers and their scores.

The network has two-dimensional embeddings, constant attention and one hidden layer. Markers are
unordered pairs of residues, each with a sum. Thresholds and the radius of both scores are ours.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from scipy.stats import binomtest
from torch import Tensor

from emergence.running import loop
from emergence.running.graphs import constant, recordable
from emergence.running.memo import resumable

from . import Training

Embeddings = Float[Tensor, "*runs n 2"]
Places = Float[Tensor, "*runs markers 2"]
PerRun = Float[Tensor, "*runs"]
Counted = Bool[Tensor, "runs markers"]

CIRCLE = 0.8  # a round circle has 1, random embeddings about 0.3
GRID = 0.3  # random embeddings have the base rate of about 0.006
LINE = 0.05  # flatness below which a grid has one dimension: four rows on four columns have 1
RADIUS = 0.15  # in units of the embeddings' rms: a seventh of it, so neighbours count as apart


class Markers(NamedTuple):
    """The n (n + 1) / 2 unordered pairs {a, b} of residues and the class a + b mod n of each."""

    first: Int[Tensor, " markers"]
    second: Int[Tensor, " markers"]
    total: Int[Tensor, " markers"]


@cache
def all_markers(n: int) -> Markers:
    """All pairs of residues mod n, a pair with itself among them; ValueError for n < 2."""
    if n < 2:
        raise ValueError(f"modular addition needs at least two residues, got {n}")
    first, second = torch.triu_indices(n, n)
    return Markers(first, second, (first + second) % n)


@cache
def totals(n: int, device: torch.device) -> Int[Tensor, " markers"]:
    """The class of each marker, on a device."""
    return all_markers(n).total.to(device)


@cache
def incidence(n: int, dtype: torch.dtype, device: torch.device) -> Float[Tensor, "markers n"]:
    """The matrix that makes markers of embeddings: s = A E, so that A^T f are forces on E."""
    pairs = all_markers(n)
    matrix = torch.zeros(len(pairs.total), n)
    for member in (pairs.first, pairs.second):
        matrix[torch.arange(len(member)), member] += 1
    return matrix.to(device, dtype)


def places(embeddings: Embeddings) -> Places:
    """The markers s_ab = E_a + E_b."""
    return incidence(embeddings.shape[-2], embeddings.dtype, embeddings.device) @ embeddings


def same_sum(n: int) -> Bool[Tensor, "markers markers"]:
    """Which two different markers have the same sum."""
    total = all_markers(n).total
    same = total[:, None] == total
    return same & ~torch.eye(len(total), dtype=torch.bool)


def other_sum(n: int) -> Bool[Tensor, "markers markers"]:
    """Which two markers have different sums."""
    total = all_markers(n).total
    return total[:, None] != total


def scale(embeddings: Embeddings) -> Float[Tensor, "*runs 1 1"]:
    """The root mean square distance of the embeddings from their mean."""
    centred = embeddings - embeddings.mean(dim=-2, keepdim=True)
    return centred.square().sum(dim=-1).mean(dim=-1).sqrt()[..., None, None]


def normalise(embeddings: Embeddings) -> Embeddings:
    """The embeddings centred and with unit root mean square."""
    return (embeddings - embeddings.mean(dim=-2, keepdim=True)) / scale(embeddings)


def shape_only(vectors: Embeddings, embeddings: Embeddings) -> Embeddings:
    """What is left of vectors at the embeddings without common motion and without growth.

    This is what moves normalised embeddings, and the chain rule through `normalise` but for a
    division by the scale.
    """
    normal = normalise(embeddings)
    growth = (vectors * normal).sum(dim=(-2, -1), keepdim=True) / embeddings.shape[-2]
    left = vectors - growth * normal
    return left - left.mean(dim=-2, keepdim=True)


class Scores(NamedTuple):
    """Circle score and grid score."""

    circle: PerRun
    grid: PerRun

    @property
    def circles(self) -> Bool[Tensor, "*runs"]:
        return self.circle > CIRCLE

    @property
    def grids(self) -> Bool[Tensor, "*runs"]:
        return self.grid > GRID


def score(embeddings: Embeddings) -> Scores:
    """Both scores of normalised embeddings."""
    normal = normalise(embeddings)
    power = power_spectrum(normal)
    marks = places(normal)
    close = torch.cdist(marks, marks, compute_mode="donot_use_mm_for_euclid_dist") < RADIUS
    same = same_sum(embeddings.shape[-2]).to(close.device)
    return Scores(
        power.amax(dim=-1) / power.sum(dim=-1), (close & same).sum(dim=(-2, -1)) / same.sum()
    )


def power_spectrum(embeddings: Embeddings) -> Float[Tensor, "*runs frequencies"]:
    """The variance of the embeddings, as a function of the residue, by frequency 1, 2, ..."""
    n = embeddings.shape[-2]
    power = torch.fft.rfft(embeddings, dim=-2).abs().square().sum(dim=-1)[..., 1:]
    twice = torch.full_like(power, 2.0)  # a frequency and its negative
    if n % 2 == 0:
        twice[..., -1] = 1.0
    return twice * power / n**2


def flatness(embeddings: Embeddings) -> PerRun:
    """The smaller principal variance over the larger: 1 for a round circle, 0 for a line."""
    centred = normalise(embeddings)
    low, high = torch.linalg.eigvalsh(centred.mT @ centred).unbind(dim=-1)
    return low.clamp(min=0) / high


def share(found: Bool[Tensor, " runs"]) -> tuple[float, float]:
    """Wilson's 95% interval of a share of independent runs."""
    interval = binomtest(int(found.sum()), len(found)).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def circle(n: int, frequency: int = 1) -> Float[Tensor, "n 2"]:
    """The perfect circle of a frequency."""
    angle = 2 * torch.pi * frequency * torch.arange(n, dtype=torch.float64) / n
    return torch.stack((angle.cos(), angle.sin()), dim=-1)


class AdditionNetwork(NamedTuple):
    """Parameters, a row per run; logits are relu(s W_1 + b_1) W_2 + b_2 of s_ab = E_a + E_b."""

    embeddings: Float[Tensor, "runs n 2"]
    first: Float[Tensor, "runs 2 hidden"]
    first_bias: Float[Tensor, "runs 1 hidden"]
    second: Float[Tensor, "runs hidden n"]
    second_bias: Float[Tensor, "runs 1 n"]


def start(settings: Training, seeds: Sequence[int]) -> tuple[AdditionNetwork, Counted]:
    """A fresh network and the trained pairs, each seed from a generator of its own."""
    n, hidden = settings.residues, settings.hidden
    count = len(all_markers(n).total)
    networks, trained = [], []
    for seed in seeds:
        stream = torch.Generator().manual_seed(seed)
        first, second = (
            torch.rand(*shape, generator=stream) * 2 - 1 for shape in ((2, hidden), (hidden, n))
        )
        embeddings = settings.embedding_scale * torch.randn(n, 2, generator=stream)
        biases = torch.zeros(1, hidden), torch.zeros(1, n)
        networks.append((embeddings, first / 2**0.5, biases[0], second / hidden**0.5, biases[1]))
        order = torch.randperm(count, generator=stream)
        trained.append(order >= round(settings.held_out * count))
    return AdditionNetwork(*map(torch.stack, zip(*networks, strict=True))), torch.stack(trained)


class Pass(NamedTuple):
    """One pass forward: all that losses, gradients and pair forces need of the network."""

    marks: Float[Tensor, "runs markers 2"]
    active: Float[Tensor, "runs markers hidden"]  # 1 where a unit is on, 0 elsewhere
    hidden: Float[Tensor, "runs markers hidden"]
    log_probability: Float[Tensor, "runs markers n"]

    def error(self) -> Float[Tensor, "runs markers n"]:
        """p - y, the gradient of each marker's loss by its logits."""
        error = self.log_probability.exp()
        total = _totals(error)
        return error.scatter_add_(
            -1, total, constant(-1.0, error.device, error.dtype).expand(total.shape)
        )

    def losses(self) -> Float[Tensor, "runs markers"]:
        """The cross-entropy of each marker."""
        return -self.log_probability.gather(-1, _totals(self.log_probability)).squeeze(-1)


def forward(marks: Float[Tensor, "runs markers 2"], layers: Sequence[Tensor]) -> Pass:
    """A pass forward from markers; `layers` are the parameters after the embeddings."""
    first, first_bias, second, second_bias = layers
    unit = torch.baddbmm(first_bias, marks, first)
    hidden = unit.relu()
    logits = torch.baddbmm(second_bias, hidden, second)
    return Pass(marks, (unit > 0).to(unit.dtype), hidden, logits.log_softmax(dim=-1))


def gradient(
    network: AdditionNetwork, found: Pass, counted: Float[Tensor, "runs markers"]
) -> AdditionNetwork:
    """The gradient of the counted mean loss by all parameters, from a pass forward.

    In closed form: about three times as fast as autograd for networks of this size.
    """
    error = found.error() * counted[..., None]
    back = found.active * (error @ network.second.mT)
    n = network.embeddings.shape[-2]
    matrix = incidence(n, back.dtype, back.device)
    return AdditionNetwork(
        matrix.mT @ (back @ network.first.mT),
        found.marks.mT @ back,
        back.sum(dim=-2, keepdim=True),
        found.hidden.mT @ error,
        error.sum(dim=-2, keepdim=True),
    )


def _totals(like: Float[Tensor, "runs markers n"]) -> Int[Tensor, "runs markers 1"]:
    total = totals(like.shape[-1], like.device)
    return total.expand(like.shape[0], -1)[..., None]


class ClusteringRecord(NamedTuple):
    """What training left behind; a snapshot is the network after so many epochs."""

    epochs: Int[Tensor, " times"]
    loss: Float[Tensor, "times runs"]  # of the trained pairs
    accuracy: Float[Tensor, "times runs"]  # of the held-out pairs
    scores: Scores  # times runs
    trained: Counted
    snapshots: dict[int, AdditionNetwork]
    final: AdditionNetwork


@resumable
def train_clustering(
    settings: Training, seeds: Sequence[int], *, device: torch.device, label: str = "network"
) -> ClusteringRecord:
    """Train a network a seed, all at once; ArithmeticError when a run diverges."""
    network, trained = start(settings, seeds)
    network = AdditionNetwork(*(part.to(device) for part in network))
    weights = (trained / trained.sum(dim=-1, keepdim=True)).to(device)
    decay = settings.weight_decay
    of_embeddings = decay if settings.embedding_decay is None else settings.embedding_decay
    free = [settings.hidden_bias or part is not network.first_bias for part in network]
    layers = [part for part, moves in zip(network[1:], free[1:], strict=True) if moves]
    groups = [
        {"params": [network.embeddings], "weight_decay": of_embeddings},
        {"params": layers, "weight_decay": decay},
    ]
    adamw = torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
    optimiser = recordable(adamw)
    every = max(1, settings.epochs // settings.records)
    rows: list[tuple] = []  # epoch, and what `_measure` finds
    copies: list[tuple] = []  # epoch, and the parameters

    def step(recorded: bool) -> tuple[Tensor, None]:
        passed = forward(places(network.embeddings), network[1:])
        slopes = gradient(network, passed, weights)
        for part, slope, moves in zip(network, slopes, free, strict=True):
            part.grad = slope if moves else None
        optimiser.step()
        return (passed.losses() * weights).sum(), None

    def look(epoch: int) -> None:
        if epoch in settings.snapshots:
            copies.append((epoch, *_copy(network)))
        if epoch % every == 0:
            rows.append((epoch, *_measure(network, trained.to(device))))

    loop.descend(
        settings.epochs,
        label,
        step,
        rows=rows,
        stops=sorted(
            at for at in {*range(0, settings.epochs, every), *settings.snapshots}
            if at < settings.epochs
        ),
        at_stop=look,
        network=network,
        optimiser=optimiser,
        kept=copies,
    )  # fmt: skip
    last = _measure(network, trained.to(device))
    loop.check_finite(last[0], label, settings.epochs)
    epochs, *columns = zip(*rows, (settings.epochs, *last), strict=True)
    trained_loss, accuracy, *shapes = (torch.stack(column) for column in columns)
    snapshots = {epoch: AdditionNetwork(*parts) for epoch, *parts in copies}
    curves = torch.tensor(epochs), trained_loss, accuracy, Scores(*shapes)
    return ClusteringRecord(*curves, trained, snapshots, _copy(network))


def _copy(network: AdditionNetwork) -> AdditionNetwork:
    return AdditionNetwork(*(part.detach().clone().cpu() for part in network))


def _measure(network: AdditionNetwork, trained: Counted) -> tuple[Tensor, ...]:
    """Loss of the trained pairs, accuracy on the held-out ones and both scores."""
    passed = forward(places(network.embeddings), network[1:])
    total = totals(network.embeddings.shape[-2], trained.device)
    right = passed.log_probability.argmax(dim=-1) == total
    loss = (passed.losses() * trained).sum(dim=-1) / trained.sum(dim=-1)
    accuracy = (right & ~trained).sum(dim=-1) / (~trained).sum(dim=-1)
    return tuple(part.cpu() for part in (loss, accuracy, *score(network.embeddings)))


def force_sizes(record: ClusteringRecord) -> dict[int, Float[Tensor, " runs"]]:
    """The size of the force on each network's embeddings, by epoch: at every snapshot and the end.

    The force is -grad_E of the mean loss. Only what changes the shape of the embeddings counts, in
    units of their scale.
    """
    counted = (record.trained / record.trained.sum(dim=-1, keepdim=True)).double()
    networks = record.snapshots | {int(record.epochs[-1]): record.final}
    sizes = {}
    for epoch, network in networks.items():
        network = AdditionNetwork(*(part.double() for part in network))
        where = network.embeddings
        slopes = gradient(network, forward(places(where), network[1:]), counted)
        size = shape_only(slopes.embeddings, where).flatten(1).norm(dim=-1)
        sizes[epoch] = size / scale(where).flatten()
    return sizes
