"""Training of the disentangled transformer (§4, Apps. C, D): many seeds at once, with records."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence import fast, subspace, tasks
from emergence.models import Weights
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import kept, resumable

from ._networks import Constrained, Full, Network
from ._prefixes import Kind, draw_queries, prefix_output
from ._settings import Method, MinimalTraining

CPU = torch.device("cpu")
#: The sampler of each kind of data (Eq. 5, Assumption 7).
SAMPLERS = {"gaussian": tasks.gaussian_pairs, "orthonormal": tasks.orthonormal_pairs}


class MinimalRecord(NamedTuple):
    """The measurements of a training of the disentangled transformer (§4, Apps. C, D).

    Attributes:
        steps: updates made before each measurement.
        pseudo: the 19 pseudo-parameters in the order of `subspace.NAMES`.
        outside: Frobenius norm of the weights outside the 19-dimensional subspace.
        loss: mean squared error on the fresh batch, a mean over dimensions and thus a test loss.
        snapshots: the weights of all runs, by the number of updates before them.
    """

    steps: Int[Tensor, " times"]
    pseudo: Float[Tensor, "seeds times 19"]
    outside: Float[Tensor, "seeds times"]
    loss: Float[Tensor, "seeds times"]
    snapshots: dict[int, Weights]


@resumable
def train_minimal(
    settings: MinimalTraining,
    seeds: Sequence[int],
    *,
    device: torch.device = CPU,
    method: Method = "fast",
    dtype: torch.dtype = torch.float32,
    label: str = "training",
    callback: Callable[[int, Weights], None] | None = None,
) -> MinimalRecord:
    """Train one disentangled transformer per seed, all at once (§4, Apps. C, D).

    Args:
        settings: what is trained, on which data and for how long.
        seeds: at least one seed; each network has the data of its own seed.
        device: where it is trained.
        method: `fast`, or `dense`, as Eq. 1 is written; they agree up to rounding.
        dtype: floating-point type of weights and data.
        label: the name of the training in messages.
        callback: called with the number of updates and the weights of all runs, before the first
            update, after every `record_every` and after the last; when resumed, from there on.

    Returns:
        Measurements after every `record_every` updates, in main memory.

    Raises:
        ArithmeticError: if a run diverges.
        ValueError: if there are no seeds, the method is unknown or the data are out of range.

    Example:
        >>> settings = training.MinimalTraining(n_pairs=2, dim=8, batch_size=16, steps=3)
        >>> training.train_minimal(settings, [0, 1]).steps.tolist()
        [0, 1, 2]
    """
    if not seeds:
        raise ValueError("training needs at least one seed")
    check_method(method)
    streams = [generator(seed, device) for seed in seeds]
    kind = Constrained if settings.trained else Full
    network: Network = kind(settings, method)
    parameters = network.start(streams, dtype)
    least = torch.full((len(seeds),), torch.inf, dtype=dtype, device=device)
    rows: list[tuple[int, Tensor, Tensor, Tensor]] = []  # step, coordinates, norm outside, loss
    snapshots: list[tuple[int, Tensor, Tensor, Tensor]] = []  # step, W1, W2, W3

    def step(recorded: bool, *batch: Tensor) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        batch = batch or stacked_batches(settings, streams, dtype)
        loss, gradient = minimal_step(network, parameters, *batch)
        row = (*network.coordinates(parameters), loss) if recorded else None
        network.descend(parameters, gradient)
        torch.minimum(least, loss, out=least)
        return loss, row

    until = -torch.inf if settings.until_loss is None else settings.until_loss

    def emerged() -> Bool[Tensor, ""]:
        return least.max() <= until

    looks = range(0, settings.steps + 1, settings.record_every) if callback else ()

    def look(made: int) -> None:
        if callback and (made in looks or made == settings.steps):
            callback(made, network.weights(parameters))
        if made in settings.snapshots and not emerged():
            w1, w2, w3 = (part.detach().cpu().clone() for part in network.weights(parameters))
            snapshots.append((made, w1, w2, w3))

    # neither a decomposition nor queries of prefixes are recorded on a GPU
    drawn_apart = settings.data == "orthonormal" or settings.supervision == "every"
    loop.descend(
        settings.steps,
        label,
        step,
        rows=rows,
        every=settings.record_every,
        ended=None if settings.until_loss is None else emerged,
        stops=sorted({*settings.snapshots, *looks, settings.steps}),
        at_stop=look,
        draw=partial(stacked_batches, settings, streams, dtype) if drawn_apart else None,
        parameters=tuple(parameters),
        streams=tuple(streams),
        least=least,
        snapshots=snapshots,
    )
    recorded, *columns = zip(*rows, strict=True)
    pseudo, outside, losses = (
        torch.stack([row.to(device) for row in column], dim=1).cpu() for column in columns
    )
    return MinimalRecord(
        torch.tensor(recorded), pseudo, outside, losses,
        {step: Weights(*weights) for step, *weights in snapshots},
    )  # fmt: skip


def minimal_step(
    network: Network, parameters: Sequence[Tensor], inputs: Tensor, target: Tensor
) -> tuple[Float[Tensor, " runs"], tuple[Tensor, ...]]:
    """The losses of all runs on their batches and the gradient of their sum (§4).

    Args:
        network: what the parameters mean, `training.Full` or `training.Constrained`.
        parameters: the parameters of all runs; they are not changed.
        inputs, target: a batch for each run, as `training.stacked_batches` gives it.

    Returns:
        The mean squared error of each run, a mean over batch and dimensions, and the gradient.
    """
    every = network.settings.supervision == "every"
    if isinstance(network, Full) and network.method == "fast" and not every:
        mask, windows = network.settings.mask, network.settings.windows
        weights = network.weights(parameters)
        return fast.disentangled_gradient(weights, inputs, target, mask=mask, windows=windows)
    free = [parameter.detach().requires_grad_() for parameter in parameters]
    answer = _answers_of_prefixes if every else type(network).output
    error = answer(network, free, inputs) - target
    loss = error.square().mean(dim=(-2, -1))
    if every:
        loss = loss.mean(dim=-1)
    return loss.detach(), torch.autograd.grad(loss.sum(), free)


def stacked_batches(
    settings: MinimalTraining, streams: Sequence[torch.Generator], dtype: torch.dtype
) -> tuple[Float[Tensor, "runs batch length width"], Float[Tensor, "runs batch *asked dim"]]:
    """Inputs and targets of a fresh batch for every run (§4).

    Args:
        settings: the data, their sizes, the query rule and the supervision.
        streams: sources of the random numbers, one per run, on one device.
        dtype: floating-point type of inputs and targets.

    Returns:
        Inputs of shape (runs, batch, 2N + 1, 2D) and targets of shape (runs, batch, D). With a loss
        at every position (runs, batch, 3N, 2D), where N queries follow upon the context and query n
        is for the prefix of n pairs, and (runs, batch, N, D).

    Raises:
        ValueError: if a size is out of its range.
    """
    batch = SAMPLERS[settings.data](
        settings.batch_size, settings.n_pairs, settings.dim,
        generator=streams, query=settings.query, copies=settings.copies, dtype=dtype,
    )  # fmt: skip
    if settings.supervision == "query":
        return batch.inputs, batch.target
    n, dim = settings.n_pairs, settings.dim
    kind: Kind = "every" if settings.query == "uniform" else "last"
    asked = [draw_queries(kind, settings.batch_size, n, generator=stream) for stream in streams]
    pick = torch.stack([each.wanted for each in asked])[..., None].expand(-1, -1, -1, dim)
    context = batch.inputs[..., :-1, :]
    queries = torch.zeros_like(context[..., :n, :])
    queries[..., :dim] = context[..., 0::2, :dim].gather(-2, pick)
    target = context[..., 1::2, :dim].gather(-2, pick)
    return torch.cat([context, queries], dim=-2), target


def _answers_of_prefixes(
    network: Network, parameters: Sequence[Tensor], inputs: Tensor
) -> Float[Tensor, "runs batch asked dim"]:
    """The prediction for the query of each prefix."""
    n, mask = network.settings.n_pairs, network.settings.mask
    context, queries = inputs.split([2 * n, n], dim=-2)
    sizes = torch.arange(1, n + 1, device=inputs.device).expand(*inputs.shape[:2], -1)
    return prefix_output(network.weights(parameters), context, queries, sizes, mask)


@kept
def gradient_samples(
    settings: MinimalTraining,
    weights: Weights,
    count: int,
    *,
    stream: torch.Generator,
) -> Float[Tensor, "count 19"]:
    """The coordinates in the 19-dimensional subspace of the gradients of fresh batches (Theorem 1).

    Args:
        settings: data, batch size, mask and windows.
        weights: the weights of one network, at which the gradients are taken.
        count: number of batches, >= 1.
        stream: source of the random numbers; its device is that of the computation.

    Returns:
        The coordinates of each gradient, in main memory; the loss is a mean over dimensions.
    """
    free = [part.to(stream.device).requires_grad_() for part in weights]
    rows = []
    for _ in range(count):
        inputs, target = stacked_batches(settings, [stream], free[0].dtype)
        output = fast.disentangled_output(
            Weights(*free), inputs[0], mask=settings.mask, windows=settings.windows
        )
        loss = (output - target[0]).square().mean()
        gradient = Weights(*torch.autograd.grad(loss, free))
        rows.append(subspace.project(gradient)[0].stacked())
    return torch.stack(rows).cpu()


def check_method(method: str) -> None:
    """Raise ValueError if the method is unknown."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}")
