"""Updates of training compared with the norm-minimising direction of Eq. 29 (§4.5, App. D).

Where both sides of the kink of an input z_ik = x_i E_k push towards it, descent stays there, and
the unit is on for a share s_ik of the time. Filippov's flow has the share that keeps z_ik at 0.
On Z, the zero-loss set, that share follows from the multipliers of the projection, with nothing
fitted. Last come the dynamics of the first layer while the second is optimal (§6, §7).
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import kept, resumable

from . import Direction, Simulation
from .model import (
    RELU,
    Activation,
    Layers,
    Samples,
    Split,
    accuracy,
    network_output,
    residual_and_gradient,
    split,
    stacked,
    start,
)

Rows = Float[Tensor, "*runs n p"]  # inputs, or outputs
Hidden = Float[Tensor, "*runs n hidden"]
Held = Bool[Tensor, "*runs n hidden"]
Free = Float[Tensor, "*runs hidden p p"]  # projectors
Curves = Float[Tensor, "runs times"]

RIDGE = 1e-11  # of the largest diagonal entry of J J^T: far below its least eigenvalue


def jacobian_times(
    at: Layers, inputs: Rows, direction: Layers, activation: Activation = RELU
) -> Rows:
    """J v, the change of all outputs when the weights move."""
    z = inputs @ at.embeddings
    moved = activation.pulled_back(inputs @ direction.embeddings, z)
    return moved @ at.output + activation(z) @ direction.output


def jacobian_transposed(
    at: Layers, inputs: Rows, values: Rows, activation: Activation = RELU
) -> Layers:
    """J^T y, the direction in which the outputs change by most."""
    z = inputs @ at.embeddings
    to_hidden = activation.pulled_back(values @ at.output.mT, z)
    return Layers(inputs.mT @ to_hidden, activation(z).mT @ values)


def free_directions(inputs: Rows, held: Held) -> Free:
    """For each hidden unit the projector onto changes that leave its held inputs x_i E_k alone."""
    mask = held.mT.to(inputs.dtype)  # runs, hidden, n
    moments = torch.einsum("...kn,...nx,...ny->...kxy", mask, inputs, inputs)
    values, vectors = torch.linalg.eigh(moments)
    free = (values < 1e-9).to(inputs.dtype)  # moments of integers: zero or of order one
    return (vectors * free.unsqueeze(-2)) @ vectors.mT


def gram(
    at: Layers, inputs: Rows, free: Free | None = None, activation: Activation = RELU
) -> Float[Tensor, "*runs m m"]:
    """J Q J^T with the projector Q of the free directions (J J^T without), m = n p outputs."""
    z = inputs @ at.embeddings
    active = activation(z)
    gate = activation.slope(z).mT.unsqueeze(-1)  # runs, hidden, n, 1
    rows = gate * inputs.unsqueeze(-3)  # runs, hidden, n, p
    paired = (rows if free is None else rows @ free) @ rows.mT
    weights = at.output.unsqueeze(-1) * at.output.unsqueeze(-2)  # runs, hidden, p, p
    first = paired.flatten(-2).mT @ weights.flatten(-2)  # over hidden units
    n, p = inputs.shape[-2:]
    blocks = first.unflatten(-1, (p, p)).unflatten(-3, (n, n))  # n, n, p, p
    identity = torch.eye(p, dtype=inputs.dtype, device=inputs.device)
    blocks = blocks + (active @ active.mT)[..., None, None] * identity
    return blocks.transpose(-3, -2).flatten(-4, -3).flatten(-2)


class Projection(NamedTuple):
    """-theta projected onto the tangent space of Z, and the multipliers m: J^T m is taken off."""

    direction: Layers
    multipliers: Rows


def norm_minimising(
    theta: Layers, at: Layers, inputs: Rows, free: Free | None = None, activation: Activation = RELU
) -> Projection:
    """(I - J^+ J)(-theta) of Eq. 29, with J at a point of Z.

    With free directions the projection keeps to those as well.
    """
    theta = restricted(theta, free)
    kernel = gram(at, inputs, free, activation)
    diagonal = kernel.diagonal(dim1=-2, dim2=-1)
    # a network whose units are all dead has J = 0 on every input: no condition at all
    diagonal += RIDGE * diagonal.amax(dim=-1, keepdim=True) + torch.finfo(diagonal.dtype).tiny
    change = jacobian_times(at, inputs, theta, activation).flatten(-2).unsqueeze(-1)
    multipliers = torch.cholesky_solve(change, torch.linalg.cholesky(kernel))
    multipliers = multipliers.squeeze(-1).unflatten(-1, inputs.shape[-2:])
    normal = restricted(jacobian_transposed(at, inputs, multipliers, activation), free)
    return Projection(normal.moved(theta, -1.0), multipliers)


def restricted(direction: Layers, free: Free | None) -> Layers:
    """The part of a direction that is free; all of it where nothing is held."""
    if free is None:
        return direction
    embeddings = torch.einsum("...kxy,...yk->...xk", free, direction.embeddings)
    return Layers(embeddings, direction.output)


BINS = 10  # of a share of time, in tables of measured against predicted ones


def gates(
    theta: Layers, at: Layers, inputs: Rows, held: Held, free: Free, projection: Projection
) -> Hidden:
    """The shares of time that hold these inputs at 0 while -theta pulls along Z.

    NaN but for held inputs of units whose held inputs are independent. `free` and `projection` are
    `free_directions` of the held inputs and `norm_minimising` with them. The loss pushes with
    -J^T m, where J counts an input with its gate, 0 or 1. The push that is missing to hold the
    inputs of unit k lies in the span of their rows x_i. Written as sum_i x_i d_ik it changes the
    gate of input i by d_ik / (m W^T)_ik.
    """
    multipliers = projection.multipliers
    left = theta.moved(jacobian_transposed(at, inputs, multipliers), -1.0)
    missing = left.moved(restricted(left, free), -1.0).embeddings  # runs, p, hidden
    rows = held.mT.unsqueeze(-1) * inputs.unsqueeze(-3)  # runs, hidden, n, p
    values, vectors = torch.linalg.eigh(rows.mT @ rows)  # moments of integers: 0 or of order one
    spanned = values > 1e-9
    inverse = (vectors * (spanned / values.where(spanned, 1.0)).unsqueeze(-2)) @ vectors.mT
    coefficients = (rows @ inverse @ missing.mT.unsqueeze(-1)).squeeze(-1)  # runs, hidden, n
    independent = spanned.sum(dim=-1) == held.sum(dim=-2)
    gate = RELU.slope(inputs @ at.embeddings)
    push = multipliers @ at.output.mT
    solved = held & independent.unsqueeze(-2) & (push != 0)
    predicted = gate + coefficients.mT / push.where(solved, 1.0)
    return predicted.where(solved, torch.nan)


def time_share_agreement(predicted: Hidden, measured: Hidden) -> tuple[Tensor, Tensor, Tensor]:
    """The last three fields of `DirectionRecord`; NaN for a run where no share is known."""
    solved = ~predicted.isnan()
    count, predicted = solved.sum(dim=(-2, -1)), predicted.nan_to_num()
    inside = ((predicted >= 0) & (predicted <= 1) & solved).sum(dim=(-2, -1)) / count
    clipped = predicted.clamp(0, 1)
    apart = ((clipped - measured).square() * solved).sum(dim=(-2, -1))
    mean = (measured * solved).sum(dim=(-2, -1), keepdim=True) / count[..., None, None]
    spread = ((measured - mean).square() * solved).sum(dim=(-2, -1))
    place = [(BINS * part).long().clamp(0, BINS - 1) for part in (clipped, measured)]
    cell = torch.where(solved, BINS * place[0] + place[1], BINS * BINS).flatten(-2)
    table = torch.zeros(*cell.shape[:-1], BINS * BINS + 1, dtype=torch.long)
    table.scatter_add_(-1, cell, torch.ones_like(cell))
    return inside, 1 - apart / spread, table[..., :-1].unflatten(-1, (BINS, BINS))


class DirectionRecord(NamedTuple):
    """Measurements, one per network and time; losses are mean squares over entries."""

    steps: Int[Tensor, " times"]
    train_loss: Curves
    test_loss: Curves
    accuracy: Curves  # on the pairs held out
    cosine: Curves  # update against Eq. 29
    at_kinks: Curves  # the same, inputs of units that switch held at 0
    control: Curves  # the same, as many random inputs held; or NaN
    switching: Curves  # share of inputs of units that switched lately
    norm: Curves  # of theta
    gates_inside: Curves  # share of predicted shares of time in [0, 1], Filippov's condition
    gates_explained: Curves  # of the variance of measured ones: 1 - mean squared difference over it
    gates: Int[Tensor, "runs times predicted measured"]  # counts in ten bins each way


@resumable
def measure_updates(settings: Direction, seeds: Sequence[int], *, label: str) -> DirectionRecord:
    """Train one network a seed, all at once, and measure its updates (App. D).

    The squared error is divided by the number of entries. Raises ArithmeticError when a run
    diverges.
    """
    train, test, layers = _networks(settings, seeds)
    scale = train.inputs.new_tensor(1 / train.targets[0].numel())
    first, last = 2 * settings.switch_window, settings.steps  # none before a full window has passed
    wanted = np.unique(np.geomspace(first, last, settings.n_measured).round().astype(int)).tolist()
    rows: list[tuple[Tensor, ...]] = []
    recent: list[tuple[Tensor, ...]] = []  # weights before the last steps, and at this one
    switches: list[Bool[Tensor, "runs n hidden"]] = []  # which inputs of units were positive
    control = torch.Generator().manual_seed(seeds[0])
    for k in loop.steps(
        settings.steps + 1,
        label,
        layers=layers,
        recent=recent,
        switches=switches,
        control=control,
        rows=rows,
    ):
        due = wanted[len(rows)] if len(rows) < len(wanted) else math.inf
        if due - k <= settings.switch_window:
            recent.append(tuple(part.clone() for part in layers))
            switches.append(train.inputs @ layers.embeddings > 0)
            del recent[: -settings.window - 1], switches[: -settings.switch_window - 1]
        if k == due:
            duty = torch.stack(switches).double().mean(dim=0)
            update = layers.moved(Layers(*recent[0]), -1.0)
            rows.append(_measure(settings, layers, update, duty, scale, train, test, control))
        residual, gradient = residual_and_gradient(layers, train, settings.activation)
        loop.check_finite(residual.square().sum(dim=(-2, -1)), label, k)
        force = Layers(*(scale * g for g in gradient)).moved(layers, settings.weight_decay)
        layers.move(force, -settings.learning_rate)
    columns = (torch.stack(column, dim=1) for column in zip(*rows, strict=True))
    return DirectionRecord(torch.tensor(wanted), *columns)


def _networks(settings: Direction, seeds: Sequence[int]) -> tuple[Samples, Samples, Layers]:
    """Pairs, held-out pairs and weights of the network of each seed."""
    streams = [torch.Generator().manual_seed(seed) for seed in seeds]
    p, n_pairs = settings.modulus, settings.modulus * (settings.modulus + 1) // 2
    data = stacked([split(p, n_pairs - settings.n_test, generator=stream) for stream in streams])
    starts = [start(p, settings.hidden, "torch", generator=stream) for stream in streams]
    dtype = torch.float32 if settings.single else torch.float64
    layers = Layers(*map(torch.stack, zip(*starts, strict=True)))
    return data.train.to(dtype), data.test.to(dtype), layers.to(dtype)


def pulled(layers: Layers, data: Samples, scale: Tensor, settings: Direction) -> Layers:
    """A point near Z: descent with momentum and no weight decay from here (App. D)."""
    speed = Layers(*(torch.zeros_like(part) for part in layers))
    # part of one measurement, hence of one step of `measure_updates`, which is redone as a whole
    # when it was interrupted: states of its own would never be read
    for _ in range(settings.pull_steps):
        _, gradient = residual_and_gradient(layers, data, settings.activation)
        speed = Layers(*(scale * g for g in gradient)).moved(speed, settings.momentum)
        layers = layers.moved(speed, -settings.learning_rate)
    return layers


def cosine(left: Layers, right: Layers) -> Float[Tensor, " runs"]:
    """The cosine of the angle between two directions in the space of all weights."""
    return torch.nn.functional.cosine_similarity(left.flat(), right.flat(), dim=-1)


def _measure(
    settings: Direction,
    layers: Layers,
    update: Layers,
    duty: Float[Tensor, "runs n hidden"],
    scale: Tensor,
    train: Samples,
    test: Samples,
    control: torch.Generator,
) -> tuple[Tensor, ...]:
    """One column of the record, the steps aside, in double precision."""
    train, test = (side.to(torch.float64) for side in (train, test))
    layers, update = (each.to(torch.float64) for each in (layers, update))
    activation, inputs = settings.activation, train.inputs
    near = pulled(layers, train, scale.double(), settings)
    held = (duty > 0) & (duty < 1)
    free = free_directions(inputs, held)
    ways = [norm_minimising(layers, near, inputs, each, activation) for each in (None, free)]
    slid = gates(layers, near, inputs, held, free, ways[1])
    cosines = [cosine(update, way.direction) for way in ways]
    unasked = torch.full_like(cosines[0], torch.nan)
    if settings.thorough:
        order = torch.rand(held.flatten(-2).shape, generator=control).argsort(dim=-1)
        shuffled = held.flatten(-2).gather(-1, order).unflatten(-1, held.shape[-2:])
        other = free_directions(inputs, shuffled)
        way = norm_minimising(layers, near, inputs, other, activation)
        unasked = cosine(update, way.direction)
    errors = (network_output(layers, part, activation) - part.targets for part in (train, test))
    return (
        *(error.square().mean(dim=(-2, -1)) for error in errors),
        accuracy(layers, test, activation),
        *cosines,
        unasked,
        held.double().mean(dim=(-2, -1)),
        layers.flat().norm(dim=-1),
        *time_share_agreement(slid, duty),
    )


class Optimum(NamedTuple):
    """What Eq. 20 is made of: H, A Y and the optimal second layer.

    A = (H H^T + ridge)^-1 is never formed; its condition number is of order 10^6.
    """

    active: Float[Tensor, "n hidden"]
    multipliers: Float[Tensor, "n p"]  # A Y

    def second_layer(self) -> Float[Tensor, "hidden p"]:
        """phi(W_1) = H^T A Y, of least norm among those that fit (Eqs. 15 and 18)."""
        return self.active.T @ self.multipliers

    def cost(self, embeddings: Tensor, data: Samples) -> Tensor:
        """R / lambda of the embeddings and data that this is the optimum for."""
        return embeddings.square().sum() + (data.targets * self.multipliers).sum()

    def velocity(self, embeddings: Tensor, data: Samples) -> Tensor:
        """Delta E of the embeddings and data that this is the optimum for."""
        active, multipliers = self
        pull = RELU.pulled_back(multipliers @ (multipliers.T @ active), active)
        return data.inputs.T @ pull - embeddings


class FirstLayerPath(NamedTuple):
    """A run, one row every `log_every` steps; the clock is 2 lambda t."""

    clock: Float[Tensor, " times"]
    accuracy: Float[Tensor, " times"]  # on the pairs held out
    cost: Float[Tensor, " times"]  # R / lambda
    residual: Float[Tensor, " times"]  # largest error on the training pairs
    embeddings: Float[Tensor, "times p hidden"]


def optimum(embeddings: Float[Tensor, "p hidden"], data: Samples, ridge: float = 0.0) -> Optimum:
    """Solve for the second layer; ridge = lambda is Eq. 15, 0 the limit of Eq. 18.

    Raises ArithmeticError where the training pairs cannot be fitted: H H^T is singular.
    """
    active = RELU(data.inputs @ embeddings)
    gram = active @ active.T
    if ridge:
        gram.diagonal().add_(ridge)
    factor, failed = torch.linalg.cholesky_ex(gram)
    if failed:
        raise ArithmeticError("H H^T is singular: the second layer cannot fit the training pairs")
    return Optimum(active, torch.cholesky_solve(data.targets, factor))


def instance(settings: Simulation, seed: int) -> tuple[Split, Layers]:
    """The split and the embeddings of §7.3, for the predicted and the real training alike.

    Output weights of the same kind are ours.
    """
    stream = torch.Generator().manual_seed(seed)
    p, hidden = settings.modulus, settings.hidden
    n_train = int(settings.train_share * (p * (p + 1) // 2))
    data = split(p, n_train, generator=stream)
    layers = start(p, hidden, "normal", generator=stream)
    scale = settings.embedding_std * p**0.5
    return data, Layers(scale * layers.embeddings, layers.output)


@resumable
def simulate(
    settings: Simulation, seed: int, *, ridge: float = 0.0, label: str = "predicted gradients"
) -> FirstLayerPath:
    """Follow E <- E + step Delta E from the embeddings of `instance` (§7.3).

    A stride makes the steps larger after the steep first phase: the same flow at less cost.
    Raises ArithmeticError when the run diverges, or where the training pairs cannot be fitted.
    """
    data, (embeddings, _) = instance(settings, seed)
    rows: list[tuple[Tensor, ...]] = []
    fine = min(settings.stride_from, settings.steps) if settings.stride > 1 else settings.steps
    moments = [*range(fine), *range(fine, settings.steps + 1, settings.stride)]
    sizes = [*(b - a for a, b in pairwise(moments)), settings.stride]
    for k in loop.steps(len(moments), label, embeddings=embeddings, rows=rows):
        best = optimum(embeddings, data.train, ridge)
        value = best.cost(embeddings, data.train)
        loop.check_finite(value, label, k)
        if moments[k] % settings.log_every == 0:
            clock = torch.tensor(moments[k] * settings.step, dtype=torch.float64)
            layers = Layers(embeddings, best.second_layer())
            error = (best.active @ layers.output - data.train.targets).abs().max()
            rows.append((clock, accuracy(layers, data.test), value, error, embeddings.clone()))
        embeddings.add_(sizes[k] * settings.step * best.velocity(embeddings, data.train))
    return FirstLayerPath(*map(torch.stack, zip(*rows, strict=True)))


@kept
def cost_falls(path: FirstLayerPath, data: Samples, step: float) -> bool:
    """Whether R falls along the flow from each row of a run to the next (Theorem 5.1).

    An explicit step may overshoot where the flow falls. From a row after which R has risen, the
    flow is therefore followed again at a finer step of the clock, and R has to fall at each of
    these. Raises ArithmeticError where the training pairs cannot be fitted.
    """
    for row in (path.cost.diff() >= 0).nonzero().flatten().tolist():
        embeddings = path.embeddings[row].clone()
        last = torch.inf
        for _ in range(round(float(path.clock[row + 1] - path.clock[row]) / step)):
            best = optimum(embeddings, data)
            value = float(best.cost(embeddings, data))
            if not value < last:
                return False
            last = value
            embeddings.add_(step * best.velocity(embeddings, data))
    return True
