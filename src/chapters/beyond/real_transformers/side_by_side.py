"""Several transformers of §2 trained as one tensor program, each with its seed and rate.

Several attention-only transformers of §2 at once: their answers, and their optimisers.

Training of several transformers of §2 at once, with their seeds, rates and emergence times.

The loss is watched on a fixed set of sequences, not on the batch.

How much of AdamW's second moment is the noise of batches, measured along a training.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding, scaled_dot_product_attention

from emergence import tasks
from emergence.models import AttentionOnlyTransformer
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import Schedule, constant
from emergence.running.memo import resumable
from emergence.training import TokenTraining, initial_transformer


class Stacked(NamedTuple):
    """The weights of several attention-only transformers (§2.1), with runs along the first axis."""

    tokens: Float[Tensor, "runs vocabulary dim"]  # W_E, transposed: a vector a token
    places: Float[Tensor, "runs block dim"]  # W_pos, transposed: a vector a place in the block
    queries: Float[Tensor, "runs 2 dim dim"]  # W_Q of the two layers
    keys: Float[Tensor, "runs 2 dim dim"]  # W_K of them
    values: Float[Tensor, "runs 2 dim dim"]  # W_V of them
    outputs: Float[Tensor, "runs 2 dim dim"]  # W_O of them
    unembedding: Float[Tensor, "runs vocabulary dim"]  # W_U


def stacked(models: Sequence[AttentionOnlyTransformer]) -> Stacked:
    """Copies of the weights of networks of one shape, none of them requiring a gradient (§2.1)."""

    def layers(name: str) -> Tensor:
        return torch.stack([torch.stack(tuple(getattr(model, name))) for model in models]).detach()

    def single(name: str) -> Tensor:
        return torch.stack([getattr(model, name) for model in models]).detach()

    return Stacked(
        single("W_E").mT.contiguous(),
        single("W_pos").mT.contiguous(),
        layers("W_Q"),
        layers("W_K"),
        layers("W_V"),
        layers("W_O"),
        single("W_U"),
    )


def stacked_logits(
    weights: Stacked,
    tokens: Int[Tensor, "runs batch length"],
    positions: Int[Tensor, "runs batch length"],
) -> Float[Tensor, "runs batch vocabulary"]:
    """The logits at the last position, each run on its own sequences, causal mask (§2.1).

    Only the last position is asked, so all matrices of layer 2 meet one vector a sequence. In layer
    1 queries and keys meet through one matrix, and values are mixed before they are multiplied.
    Logits are what the networks return but for rounding; differentiable once.
    """
    runs, vocabulary, dim = weights.tokens.shape
    scale = dim**-0.5
    run = torch.arange(runs, device=tokens.device)[:, None, None]
    x = embedding(tokens + run * vocabulary, weights.tokens.flatten(0, 1))
    x = x + embedding(positions + run * weights.places.shape[1], weights.places.flatten(0, 1))
    score = weights.queries.mT @ weights.keys  # of both layers
    write = weights.outputs @ weights.values
    queries = (x.flatten(1, 2) @ score[:, 0]).view_as(x)
    mixed = scaled_dot_product_attention(queries, x, x, is_causal=True, scale=scale)

    last = x[:, :, -1] + mixed[:, :, -1] @ write[:, 0].mT
    query = last @ score[:, 1] * scale
    scores = x @ query[..., None] + mixed @ (query @ write[:, 0])[..., None]
    share = scores.squeeze(-1).softmax(dim=-1).unsqueeze(-2)
    attended = (share @ x).squeeze(-2) + (share @ mixed).squeeze(-2) @ write[:, 0].mT
    return (last + attended @ write[:, 1].mT) @ weights.unembedding.mT


BETAS, EPS = (0.9, 0.999), 1e-8  # PyTorch's defaults of AdamW


class StackedDescent:
    """Plain SGD, or AdamW with PyTorch's defaults, on stacked weights; a rate a run.

    Of the settings, the optimiser and the weight decay count, and the learning rate does not.
    """

    def __init__(
        self, settings: TokenTraining, weights: Stacked, rates: Float[Tensor, " runs"]
    ) -> None:
        self.adamw = settings.optimiser == "adamw"
        self.decay = settings.weight_decay
        self.weights = [w.detach().clone() for w in weights]
        self.rates = rates
        self.first = [torch.zeros_like(w) for w in weights] if self.adamw else []
        self.second = [torch.zeros_like(w) for w in weights] if self.adamw else []

        powers = [[1 - beta**k for beta in BETAS] for k in range(1, settings.steps + 1)]
        self.corrections = Schedule(powers, rates.device, rates.dtype)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        """The next update of every run."""
        corrections = self.corrections()
        for i, (weight, gradient) in enumerate(zip(self.weights, gradients, strict=True)):
            rate = self.rates.view(-1, *[1] * (weight.dim() - 1))
            if not self.adamw:
                weight.sub_(rate * gradient)
                continue
            first, second = self.first[i], self.second[i]
            first.lerp_(gradient, 1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            scale = (second / corrections[1]).sqrt_().add_(EPS)
            weight.mul_(1 - self.decay * rate).sub_(rate / corrections[0] * first / scale)

    def of(self, runs: tuple[int, ...]) -> Stacked:
        """The weights of these runs, fresh leaves of the graph; as they lie where all go on."""
        whole = len(runs) == len(self.rates)
        rows = slice(None) if whole else constant(runs, self.rates.device)
        return Stacked(*(w.detach()[rows].requires_grad_() for w in self.weights))


PROBE_SEED = 1_000_003  # of the fixed set, of no training


class Emerged(NamedTuple):
    """When runs pass levels of the loss, and how they ended.

    A level is passed where the line between two losses measured on the fixed set crosses it.
    """

    steps: Float[np.ndarray, "runs levels"]  # of the first crossing of each level; inf for never
    loss: Float[np.ndarray, " runs"]  # at the last look, in nats; NaN for a run that diverged
    accuracy: Float[np.ndarray, " runs"]  # share of right labels at the last look
    taken: Float[np.ndarray, " runs"]  # updates until it passed the last level, diverged or ended


@resumable
def train_side_by_side(
    settings: TokenTraining,  # its learning rate and `until_loss` are not used
    seeds: Sequence[int],  # of the initial weights and of the data, one per run
    rates: Sequence[float],  # learning rates, one per run
    *,
    levels: Sequence[float],  # losses in nats, falling; a run ends at the last
    probes: int = 128,  # sequences of the fixed set
    device: torch.device,
    label: str = "training",
) -> Emerged:
    """Train one run per seed until its loss on a fixed set has passed all levels (§2, App. E).

    A run draws its start and its batches as `train_tokens` does with its seed. The fixed set is
    the same for all runs of these settings. Runs leave when they are done. A training
    that is killed goes on where it was, as far as the cache in use has kept it. Raises ValueError
    for another mask than the causal one, unscaled scores, or not one rate a seed.
    """
    if settings.mask != "causal" or not settings.scaled:
        raise ValueError(f"only the causal mask and scaled scores are computed here: {settings}")
    if len(seeds) != len(rates):
        raise ValueError(f"a rate a seed, got {len(rates)} rates and {len(seeds)} seeds")
    streams = [generator(seed, device) for seed in seeds]
    weights = stacked([initial_transformer(settings, stream) for stream in streams])
    descent = StackedDescent(settings, weights, torch.tensor(rates, device=device))
    probe = _draw(settings, [generator(PROBE_SEED, device)], probes)
    watch = _Watch.over(len(seeds), levels)
    going: list[tuple[int, ...]] = []  # the runs since the last look

    def runs(at: int) -> tuple[int, ...]:
        if not going:
            going.append(tuple(watch.runs.tolist()))
        return going[0]

    def look(made: int) -> None:
        those = runs(made)
        watch.note(watch.runs, made, *_look(descent.of(those), probe))
        going.clear()

    def step(recorded: bool, those: tuple[int, ...]) -> tuple[Tensor, None]:
        if those:
            update(settings, descent, those, [streams[run] for run in those])
        return descent.rates, None  # one that diverges leaves

    loop.descend(
        settings.steps,
        label,
        step,
        rows=[],
        ended=lambda: not len(watch.runs),
        stops=loop.ever_rarer(settings.steps),
        at_stop=look,
        phase=runs,
        weights=tuple(descent.weights),
        moments=tuple(descent.first + descent.second),
        watched=tuple(watch),
        streams=tuple(streams),
        place=descent.corrections.place,
    )
    return Emerged(**{name: getattr(watch, name).numpy() for name in Emerged._fields})


class _Watch(NamedTuple):
    """What has been seen of all runs; those that have gone are looked at no more."""

    goals: Float[Tensor, " levels"]
    steps: Float[Tensor, "runs levels"]
    loss: Float[Tensor, " runs"]
    accuracy: Float[Tensor, " runs"]
    taken: Float[Tensor, " runs"]  # at the last look

    @classmethod
    def over(cls, runs: int, levels: Sequence[float]) -> "_Watch":
        goals = torch.tensor(levels, dtype=torch.float64)
        never = torch.full((runs, len(goals)), torch.inf, dtype=torch.float64)
        return cls(goals, never, *torch.full((3, runs), torch.nan, dtype=torch.float64))

    @property
    def runs(self) -> Int[Tensor, " going"]:
        """Those that have neither passed all levels nor diverged."""
        going = self.taken.isnan() | (self.loss.isfinite() & self.steps[:, -1].isinf())
        return going.nonzero()[:, 0]

    def note(
        self,
        runs: Int[Tensor, " looked"],
        step: int,
        loss: Float[Tensor, " looked"],
        accuracy: Float[Tensor, " looked"],
    ) -> None:
        """Record a measurement of these runs; between two measurements the loss is interpolated."""
        for run, new in zip(runs, loss, strict=True):
            passed = self.steps[run].isinf() & (new <= self.goals)
            at = torch.zeros_like(self.goals)
            if step:
                before, seen = self.loss[run], self.taken[run]
                share = (before - self.goals) / (before - new).clamp_min(1e-12)
                at = seen + share.clamp(0, 1) * (step - seen)
            self.steps[run, passed] = at[passed]
        self.loss[runs], self.accuracy[runs], self.taken[runs] = loss, accuracy, float(step)


def update(
    settings: TokenTraining,
    descent: StackedDescent,
    runs: tuple[int, ...],
    streams: Sequence[torch.Generator],
) -> None:
    """The next update of some runs, on a fresh batch each; the rest have left."""
    gradients = fresh_gradients(settings, descent.of(runs), streams)
    if len(runs) < len(descent.rates):
        rows = constant(runs, descent.rates.device)
        gradients = [
            torch.zeros_like(whole).index_copy_(0, rows, gradient)
            for whole, gradient in zip(descent.weights, gradients, strict=True)
        ]
    descent.step(gradients)


def fresh_gradients(
    settings: TokenTraining, weights: Stacked, streams: Sequence[torch.Generator]
) -> Sequence[Tensor]:
    """The gradient of every run's loss on a fresh batch of its own."""
    batch = _draw(settings, streams, settings.batch_size)
    logits = stacked_logits(weights, batch.tokens, batch.positions)
    # the sum over runs of the means over their batches: a run's gradient knows no other run
    loss = cross_entropy(logits.flatten(0, 1), batch.target.flatten(), reduction="sum")
    return torch.autograd.grad(loss / settings.batch_size, tuple(weights))


def _draw(
    settings: TokenTraining, streams: Sequence[torch.Generator], size: int
) -> tasks.TokenBatch:
    batches = [
        tasks.token_pairs(
            size, settings.n_pairs, settings.vocabulary, settings.block_size, generator=stream
        )
        for stream in streams
    ]
    return tasks.TokenBatch(*(torch.stack(parts) for parts in zip(*batches, strict=True)))


@torch.no_grad()
def _look(
    weights: Stacked, probe: tasks.TokenBatch
) -> tuple[Float[Tensor, " runs"], Float[Tensor, " runs"]]:
    """Loss and accuracy of every run on the fixed set."""
    rows = []
    for run in range(len(weights.tokens)):  # one at a time, for memory
        single = Stacked(*(w[run : run + 1] for w in weights))
        logits = stacked_logits(single, probe.tokens, probe.positions)[0]
        target = probe.target[0]
        right = (logits.argmax(dim=1) == target).double().mean()
        rows.append(torch.stack([cross_entropy(logits, target).double(), right]))
    loss, accuracy = torch.stack(rows, dim=1).cpu()
    return loss, accuracy


APART = 500_000  # between the seed of a training and that of the batches that only measure


@resumable
def noise_share(
    settings: TokenTraining, seeds: Sequence[int], *, device: torch.device, label: str = "noise"
) -> Float[np.ndarray, " runs"]:
    """The share of batch noise in what AdamW divides by, weighted by what each weight contributes.

    With g the mean gradient of a weight and s^2/B its variance over batches, the loss falls by the
    sum of g^2 / sqrt(g^2 + s^2/B). Raising B speeds each term up with the local power nu/2, where
    nu is the share of s^2/B. Both are means over the steps, for AdamW's own memory of a thousand
    steps is longer than the trainings. A second batch at each step, of which the training knows
    nothing, tells g from s; weights come from odd steps and shares from even ones, or the noise of
    the one would count in the other. A share is between 0 and 1 but for the measurement.

    Raises ArithmeticError when a run diverges, and ValueError for another optimiser than AdamW or
    for fewer than ten steps, which should be as many as the training takes to emerge.
    """
    if settings.optimiser != "adamw" or settings.steps < 10:
        raise ValueError(f"AdamW for ten steps or more, got {settings}")
    streams = [generator(seed, device) for seed in seeds]
    others = [generator(seed + APART, device) for seed in seeds]
    weights = stacked([initial_transformer(settings, stream) for stream in streams])
    rates = torch.full((len(seeds),), settings.learning_rate, device=device)
    descent = StackedDescent(settings, weights, rates)
    # of even and of odd steps: sums of g g' and of (g^2 + g'^2)/2 over two batches
    signal, square = ([[torch.zeros_like(w) for w in weights] for _ in range(2)] for _ in range(2))

    def step(even: bool) -> tuple[Tensor, None]:
        weights = descent.of(tuple(range(len(seeds))))
        mine, other = (fresh_gradients(settings, weights, s) for s in (streams, others))
        for at, (a, b) in enumerate(zip(mine, other, strict=True)):
            signal[not even][at] += a * b
            square[not even][at] += (a.square() + b.square()) / 2
        descent.step(mine)
        return mine[0], None

    loop.descend(
        settings.steps,
        label,
        step,
        rows=[],
        every=2,
        weights=tuple(descent.weights),
        moments=tuple(descent.first + descent.second),
        sums=tuple(signal[0] + signal[1] + square[0] + square[1]),
        streams=tuple(streams + others),
        place=descent.corrections.place,
    )
    fall = whole = torch.zeros(len(seeds), device=device)
    for odd, even, total in zip(signal[1], signal[0], square[0], strict=True):
        weight = odd / total.sqrt().clamp_min(1e-12)
        share = 1 - even / total.clamp_min(1e-24)
        whole = whole + weight.flatten(1).sum(dim=1)
        fall = fall + (weight * share).flatten(1).sum(dim=1)
    return (fall / whole).cpu().double().numpy()
