"""Training of the disentangled transformer (§4, Apps. C, D): many seeds at once, with records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence import fast, models, subspace, tasks
from emergence.models import Mask, Weights, allowed_positions, apply, attention
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import constant
from emergence.running.memo import kept, resumable
from emergence.subspace import HEAD, INDUCTION_HEAD, NAMES, PseudoParameters, embed, project

from ._settings import Method, MinimalTraining

#: The disentangled transformer's output by method, `fast` or `dense` (Eq. 1).
OUTPUTS = {"fast": fast.disentangled_output, "dense": models.disentangled_output}
Parameters = Sequence[Tensor]


@runtime_checkable
class Network(Protocol):
    """The parameters of a training of Eq. 1, the output that they give, and their update (§4)."""

    @property
    def settings(self) -> MinimalTraining:
        """The settings of the training."""

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        """The parameters of every run before the first step, one run per stream."""

    def weights(self, parameters: Parameters) -> Weights:
        """The weights of Eq. 1 that the parameters give."""

    def output(self, parameters: Parameters, inputs: Tensor) -> Float[Tensor, "*runs batch dim"]:
        """The prediction at the query item."""

    def coordinates(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        """The 19 pseudo-parameters, and the norm of the weights outside their subspace."""

    def descend(self, parameters: Parameters, gradient: Parameters) -> None:
        """Move the parameters down the gradient, in place."""


@dataclass(frozen=True)
class Full:
    """A network whose 28 D^2 weights are all free, W1, W2 and W3 (§4, Apps. C, D).

    After each update, held pseudo-parameters get their values back.

    Args:
        settings: the settings of the training, with no pseudo-parameters named as `trained`.
        method: `fast`, or `dense`, as Eq. 1 is written.
    """

    settings: MinimalTraining
    method: Method

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        """The weights before the first step; if random, each run draws them from its own stream."""
        dim, scale = self.settings.dim, self.settings.initial_scale
        shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)

        def draw(shape: tuple[int, int], stream: torch.Generator) -> Tensor:
            options: dict[str, Any] = {"device": stream.device, "dtype": dtype}
            if not scale:  # and leave the stream to the data alone
                return torch.zeros(shape, **options)
            return scale * torch.randn(shape, generator=stream, **options)

        runs = [[draw(shape, stream) for shape in shapes] for stream in streams]
        return self._hold([torch.stack(parts) for parts in zip(*runs, strict=True)])

    def weights(self, parameters: Parameters) -> Weights:
        return Weights(*parameters)

    def output(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        return _output(self.settings, self.method, Weights(*parameters), inputs)

    def coordinates(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        pseudo, outside = project(Weights(*parameters))
        return pseudo.stacked(), outside

    def descend(self, parameters: Parameters, gradient: Parameters) -> None:
        shift = torch._foreach_mul(list(gradient), self.settings.learning_rate)
        torch._foreach_sub_(list(parameters), shift)
        if self.settings.held:
            for parameter, held in zip(parameters, self._hold(parameters), strict=True):
                parameter.copy_(held)

    def _hold(self, parameters: Parameters) -> list[Tensor]:
        """Move the held pseudo-parameters to their values, the rest of the weights untouched."""
        if not self.settings.held:
            return list(parameters)
        pseudo = project(Weights(*parameters))[0].stacked()
        gap = _put(pseudo, self.settings.held) - pseudo
        shift = embed(PseudoParameters.unstack(gap), self.settings.dim)
        return [p + s for p, s in zip(parameters, shift, strict=True)]


@dataclass(frozen=True)
class Constrained:
    """A network of which only named pseudo-parameters are free (§5, App. D).

    Its one parameter is the row of all 19; the others stay at zero or at their held values.

    Args:
        settings: the settings of the training, with the names as `trained`.
        method: as `training.Full` takes it.
    """

    settings: MinimalTraining
    method: Method

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        zero = torch.zeros(len(streams), len(NAMES), device=streams[0].device, dtype=dtype)
        return [_put(zero, self.settings.held)]

    def weights(self, parameters: Parameters) -> Weights:
        return embed(PseudoParameters.unstack(parameters[0]), self.settings.dim)

    def output(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        in_use = {*self.settings.trained, *dict(self.settings.held)}
        whole = self.settings.windows == (None, None)
        if self.method == "fast" and whole and in_use <= set(INDUCTION_HEAD):
            head = parameters[0][..., constant(tuple(HEAD), parameters[0].device)]
            return fast.induction_head_output(head, inputs, mask=self.settings.mask)
        return _output(self.settings, self.method, self.weights(parameters), inputs)

    def coordinates(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        return parameters[0].detach().clone(), parameters[0].new_zeros(len(parameters[0]))

    def descend(self, parameters: Parameters, gradient: Parameters) -> None:
        named = tuple(float(name in self.settings.trained) for name in NAMES)
        free = constant(named, parameters[0].device, parameters[0].dtype)
        # A pseudo-parameter's matrix has squared norm D, so its coordinate of the gradient is 1/D
        # of the derivative.
        rate = self.settings.learning_rate / self.settings.dim
        parameters[0].sub_(rate * free * gradient[0])


def _output(settings: MinimalTraining, method: Method, weights: Weights, inputs: Tensor) -> Tensor:
    """The prediction of Eq. 1 by the method, with the mask and windows of the settings."""
    return OUTPUTS[method](weights, inputs, mask=settings.mask, windows=settings.windows)


def _put(pseudo: Tensor, values: Sequence[tuple[str, float]]) -> Tensor:
    """The pseudo-parameters with the named ones at these values."""
    pseudo = pseudo.clone()
    for name, value in values:
        pseudo[..., NAMES.index(name)] = value
    return pseudo


Kind = Literal["one", "length", "queries", "every", "last", "inverse"]


class AskedQueries(NamedTuple):
    """The queries of a batch of contexts (chapter A loss at every position).

    Attributes:
        sizes: pairs n of the prefix that each query sees, 1 to N.
        wanted: the pair that each asks for, 0 to n - 1.
        weights: of a context's queries in the loss, with a sum of 1.
    """

    sizes: Int[Tensor, "batch asked"]
    wanted: Int[Tensor, "batch asked"]
    weights: Float[Tensor, " asked"]


def draw_queries(
    kind: Kind, batch_size: int, n_pairs: int, *, generator: torch.Generator, skipped: int = 0
) -> AskedQueries:
    """Draw the queries of a batch (chapter A loss at every position).

    Args:
        kind: `one` query of the whole context, for any pair, as in §2; `length`, one query of a
            prefix of random length, for any of its pairs; `queries`, N queries of the whole
            context, one for each pair; `every`, a query of each prefix, for any of its pairs;
            `last`, the same for its last pair; `inverse`, as `every` with weights that go as 1/n.
        batch_size: contexts, >= 1.
        n_pairs: pairs N in a context, >= 1.
        generator: source of the random numbers; its device is that of the batch.
        skipped: how many of the shortest prefixes have no weight, for `every` and `last`.

    Returns:
        Which prefix each query sees, which pair it asks for, and its weight in the loss.
    """
    device = generator.device
    each = torch.arange(1, n_pairs + 1, device=device)
    even = (each > skipped).double()
    even /= even.sum()
    if kind == "queries":
        sizes = torch.full_like(each, n_pairs).expand(batch_size, -1)
        return AskedQueries(sizes, (each - 1).expand(batch_size, -1), even)
    if kind == "one":
        sizes = torch.full((batch_size, 1), n_pairs, device=device)
    elif kind == "length":
        sizes = torch.randint(1, n_pairs + 1, (batch_size, 1), generator=generator, device=device)
    else:
        sizes = each.expand(batch_size, -1)
    if kind == "last":
        return AskedQueries(sizes, sizes - 1, even)
    chance = torch.rand(sizes.shape, generator=generator, device=device, dtype=torch.float64)
    wanted = (chance * sizes).long()
    if kind == "inverse":
        weights = 1 / each.double()
        return AskedQueries(sizes, wanted, weights / weights.sum())
    return AskedQueries(sizes, wanted, even if kind == "every" else even.new_ones(1))


def prefix_output(
    weights: Weights,
    context: Float[Tensor, "*runs batch length width"],
    queries: Float[Tensor, "*runs batch asked width"],
    sizes: Int[Tensor, "*runs batch asked"],
    mask: Mask = "strict",
) -> Float[Tensor, "*runs batch asked dim"]:
    """The prediction of Eq. 1 for the queries of prefixes (chapter A loss at every position).

    A query sees the first 2n rows of the context, and under the causal mask itself as well.

    Args:
        weights: the 28 D^2 weights, of one network or of several runs.
        context: rows of 2N items and labels (Eq. 3), of each run its own.
        queries: rows that ask, with an item and no position.
        sizes: pairs n of the prefix that each query sees, 1 to N.
        mask: `strict`, without the position itself (App. B.2), or `causal`, with it.

    Returns:
        A prediction for each query.
    """
    rows = torch.arange(context.shape[-2], device=context.device)
    seen = rows < 2 * sizes[..., None]
    # The context's rows do not see the queries, so one pass of layer 1 serves all of these.
    allowed = allowed_positions(context.shape[-2], mask, context.device)
    pattern = attention(apply(context, weights.w1) @ context.mT, allowed)
    attended = _retrieved(weights.w1, queries, context, seen, mask)
    stream = torch.cat([context, pattern @ context], dim=-1)
    query = torch.cat([queries, attended], dim=-1)
    retrieved = _retrieved(weights.w2, query, stream, seen, mask)
    return apply(torch.cat([query, retrieved], dim=-1), weights.w3)


def _retrieved(
    weight: Float[Tensor, "*runs width width"],
    queries: Float[Tensor, "*runs batch asked width"],
    rows: Float[Tensor, "*runs batch length width"],
    seen: Bool[Tensor, "*runs batch asked length"],
    mask: Mask,
) -> Float[Tensor, "*runs batch asked width"]:
    """What each query retrieves from the rows that it sees, at least two, and perhaps itself."""
    asked_for = apply(queries, weight)
    scores = (asked_for @ rows.mT).masked_fill(~seen, -torch.inf)
    if mask == "strict":
        return scores.softmax(dim=-1) @ rows
    own_score = (asked_for * queries).sum(dim=-1, keepdim=True)
    share = torch.cat([scores, own_score], dim=-1).softmax(dim=-1)
    return share[..., :-1] @ rows + share[..., -1:] * queries


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
