"""The factual recall task, linear attention that is predicted, and the transformer.

A sequence is a subject, a relation and noise in random order, and an end token. There are no
positions and only the end token asks, so a token's score and value depend on which token it is and
not on where it stands.

Linear attention on one-hot embeddings has the logits sum_t w_KQ(z_t) W_OV[:, z_t], so it is a
vector a = w_KQ and a matrix V = W_OV', applied to the counts of the tokens. The transformer has
softmax attention and an MLP on frozen random embeddings. With C the counts of the tokens, E the
embeddings and w = exp(E K Q' e_end / sqrt(d_h)), head h retrieves (C (w V)) / (C w), two thin
matrix products. All arrays have a leading axis of independent runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.analysis import first_fallen, first_reached
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable


@dataclass(frozen=True)
class Facts:
    """S subjects, R relations, D possible answers to each relation; sequences of length T.

    Tokens in this order: subjects, relations, noise, end. Answers of relation r are numbered from
    r D. Raises ValueError for a size that is too small.
    """

    subjects: int = 16
    relations: int = 4
    answers: int = 8
    noise: int = 20
    length: int = 32

    def __post_init__(self) -> None:
        if min(self.subjects, self.relations, self.answers, self.noise, self.length - 2) < 1:
            raise ValueError(f"every size must be at least 1, and the length 3, got {self}")

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return self.subjects + self.relations + self.noise + 1

    @property
    def outputs(self) -> int:
        """Number of answers, R D."""
        return self.relations * self.answers


@dataclass(frozen=True)
class FactualRecallSettings:
    """Of sequential learning; the source's values where a comment does not say otherwise."""

    facts: Facts = field(default_factory=Facts)
    alpha: float = 1e-5  # every initial weight
    learning_rate: float = 0.1
    batch_size: int = 1024
    steps: int = 6144  # source: 8192, of which the last quarter shows nothing new
    every: int = 64
    test_size: int = 4096  # source: 65536


def even_answers(facts: Facts) -> Int[Tensor, "S R"]:
    """a*(s, r) that uses every answer of a relation equally often, as the source's figure does."""
    s = torch.arange(facts.subjects)[:, None]
    r = torch.arange(facts.relations)[None, :]
    return r * facts.answers + s * facts.answers // facts.subjects


def random_answers(facts: Facts, stream: torch.Generator) -> Int[Tensor, "S R"]:
    """a*(s, r) drawn from the answers of r."""
    shape = (facts.subjects, facts.relations)
    chosen = torch.randint(facts.answers, shape, generator=stream, device=stream.device)
    return chosen + facts.answers * torch.arange(facts.relations, device=stream.device)


def draw(facts: Facts, batch: int, stream: torch.Generator) -> Int[Tensor, "batch length"]:
    """Independent sequences with the subject first, the relation next and the end last.

    Nothing here depends on the order: there are no positions.
    """
    make: dict[str, Any] = {"generator": stream, "device": stream.device}
    s, r = (torch.randint(n, (batch, 1), **make) for n in (facts.subjects, facts.relations))
    noise = torch.randint(facts.noise, (batch, facts.length - 3), **make)
    end = torch.full_like(s, facts.vocabulary - 1)
    return torch.cat([s, r + facts.subjects, noise + facts.subjects + facts.relations, end], 1)


def token_counts(
    facts: Facts, tokens: Int[Tensor, "batch length"]
) -> Float[Tensor, "batch vocabulary"]:
    """How often each token occurs: all that linear attention on one-hot embeddings sees."""
    empty = torch.zeros(len(tokens), facts.vocabulary, device=tokens.device)
    return empty.scatter_add_(1, tokens, torch.ones_like(tokens, dtype=empty.dtype))


def questions(
    facts: Facts, answers: Int[Tensor, "S R"], size: int, stream: torch.Generator
) -> tuple[Float[Tensor, "batch vocabulary"], Int[Tensor, " batch"]]:
    """Independent sequences as counts of their tokens, and their answers."""
    drawn = draw(facts, size, stream)
    return token_counts(facts, drawn), answers[drawn[:, 0], drawn[:, 1] - facts.subjects]


FLOOR = 60.0  # exp(-60) and its inverse are far from the ends of single precision


@dataclass(frozen=True)
class Shape:
    """Model dimension d, H heads of dimension d_h, MLP width m."""

    dim: int
    heads: int
    head_dim: int
    width: int

    @property
    def attention_parameters(self) -> int:
        """Queries, keys, values and outputs: 4 H d d_h."""
        return 4 * self.heads * self.head_dim * self.dim

    @property
    def mlp_parameters(self) -> int:
        """2 m d, biases not counted, as in the source."""
        return 2 * self.width * self.dim

    @property
    def parameters(self) -> int:
        return self.attention_parameters + self.mlp_parameters


class Frozen(NamedTuple):
    """Embeddings of tokens and of answers, which are not trained."""

    e: Float[Tensor, "runs vocabulary d"]
    u: Float[Tensor, "runs outputs d"]


class Parameters(NamedTuple):
    """What is trained: heads side by side in the last axis of q, k, v; the MLP with a bias."""

    q: Float[Tensor, "runs d heads*d_h"]
    k: Float[Tensor, "runs d heads*d_h"]
    v: Float[Tensor, "runs d heads*d_h"]
    o: Float[Tensor, "runs heads*d_h d"]
    a: Float[Tensor, "runs d m"]
    b: Float[Tensor, "runs 1 m"]
    w: Float[Tensor, "runs m d"]


def initial(
    shape: Shape,
    facts: Facts,
    streams: Sequence[torch.Generator],
    dtype: torch.dtype = torch.float32,
) -> tuple[Frozen, Parameters]:
    """The source's initial values, one run a stream."""
    kind: dict[str, Any] = {"device": streams[0].device, "dtype": dtype}

    def normal(rows: int, columns: int, fan: int) -> Tensor:
        parts = [torch.randn(rows, columns, generator=s, **kind) for s in streams]
        return torch.stack(parts) / fan**0.5

    d, inner, m = shape.dim, shape.heads * shape.head_dim, shape.width
    frozen = Frozen(normal(facts.vocabulary, d, d), normal(facts.outputs, d, d))
    queries, keys, values = (normal(d, inner, shape.head_dim) for _ in range(3))
    bias = torch.zeros(len(streams), 1, m, **kind)
    parameters = Parameters(
        queries, keys, values, normal(inner, d, d), normal(d, m, d), bias, normal(m, d, m)
    )
    return frozen, parameters


def written_at_end(
    shape: Shape, frozen: Frozen, p: Parameters, counts: Float[Tensor, "runs batch vocabulary"]
) -> Float[Tensor, "runs batch d"]:
    """What the layer writes at the end token; its products with the u are the logits.

    A score of more than `FLOOR` below the greatest of all tokens counts as that much below, which
    matters only in a sequence that has no other tokens.
    """
    runs, vocabulary, _ = frozen.e.shape
    per_head = (runs, vocabulary, shape.heads, shape.head_dim)
    asks = frozen.e[:, -1:] @ p.q
    scores = ((frozen.e @ p.k) * asks).view(per_head).sum(3) / shape.head_dim**0.5
    weights = (scores - scores.detach().amax(1, keepdim=True)).clamp(min=-FLOOR).exp()
    values = (frozen.e @ p.v).view(per_head) * weights[..., None]
    sums = (counts @ values.flatten(2)).unflatten(2, per_head[2:])
    heads = sums / (counts @ weights)[..., None]
    x = heads.flatten(2) @ p.o
    return x + torch.relu(x @ p.a + p.b) @ p.w


class LinearRecord(NamedTuple):
    """Measures on fresh sequences, one row per run: steps, losses, accuracies, distances.

    `relation_loss` is -log of the probability of the relation's block of answers;
    `from_prior` the mean total variation distance of the prediction from p(a|r).
    """

    steps: np.ndarray
    loss: Float[np.ndarray, "runs times"]
    relation_loss: Float[np.ndarray, "runs times"]
    accuracy: Float[np.ndarray, "runs times"]
    relation_accuracy: Float[np.ndarray, "runs times"]
    from_prior: Float[np.ndarray, "runs times"]
    attention: Float[np.ndarray, "runs times 3"]  # mean a of subjects, relations, noise


@resumable
def train_linear(
    settings: FactualRecallSettings, seeds: Sequence[int], *, device: torch.device, label: str
) -> LinearRecord:
    """SGD from constant initial weights, one run a seed with its own data.

    Raises ArithmeticError when a run diverges.
    """
    facts, runs = settings.facts, len(seeds)
    streams = [generator(seed, device) for seed in seeds]
    answers = even_answers(facts).to(device)
    a = torch.full((runs, facts.vocabulary), settings.alpha, device=device)
    v = torch.full((runs, facts.vocabulary, facts.outputs), settings.alpha, device=device)
    test = _stack(facts, answers, settings.test_size, streams)
    rows: list[tuple[int, Tensor]] = []  # step, measures

    def step(recorded: bool) -> tuple[Tensor, tuple[Tensor] | None]:
        row = (_measures(facts, a, v, *test),) if recorded else None
        batch = _stack(facts, answers, settings.batch_size, streams)
        return sgd_step(a, v, *batch, settings.learning_rate), row

    loop.descend(
        settings.steps, label, step, rows=rows, every=settings.every, parameters=(a, v),
        streams=tuple(streams),
    )  # fmt: skip
    times, measures = zip(*rows, strict=True)
    columns = torch.stack([row.to(device) for row in measures], dim=1).cpu().numpy()
    return LinearRecord._make(
        [np.array(times), *(columns[..., i] for i in range(5)), columns[..., 5:]]
    )


def sgd_step(
    a: Float[Tensor, "runs vocabulary"],
    v: Float[Tensor, "runs vocabulary outputs"],
    c: Float[Tensor, "runs batch vocabulary"],
    target: Int[Tensor, "runs batch"],
    learning_rate: float,
) -> Float[Tensor, " runs"]:
    """One update in place; the cross-entropy of each run before, cut off where p underflows."""
    residual = torch.softmax((c * a[:, None]) @ v, dim=2)
    p = residual.gather(2, target[..., None]).clamp(min=torch.finfo(residual.dtype).tiny)
    residual.scatter_add_(2, target[..., None], -torch.ones_like(residual[..., :1]))
    pull = c.mT @ residual / -c.shape[1]  # what each token says about the answer, unexplained
    up_a, up_v = learning_rate * (pull * v).sum(2), learning_rate * pull * a[..., None]
    a += up_a
    v += up_v
    return -p.log().mean((1, 2))


def _stack(
    facts: Facts, answers: Tensor, size: int, streams: list[torch.Generator]
) -> tuple[Float[Tensor, "runs batch vocabulary"], Tensor]:
    batches = (questions(facts, answers, size, stream) for stream in streams)
    c, target = map(torch.stack, zip(*batches, strict=True))
    return c, target


def _measures(
    facts: Facts, a: Tensor, v: Tensor, c: Tensor, target: Tensor
) -> Float[Tensor, "runs 8"]:
    """The fields of a record at one step."""
    log_p = torch.log_softmax((c * a[:, None]) @ v, dim=2)
    p = log_p.exp()
    guess, block = p.argmax(dim=2), facts.answers
    inside = p.unflatten(2, (facts.relations, block)).sum(3)
    relation = (target // block)[..., None]
    of_relation = torch.arange(facts.outputs, device=p.device) // block == relation
    split = (facts.subjects, facts.relations, facts.noise)
    columns = [
        -log_p.gather(2, target[..., None]).mean((1, 2)),
        -inside.gather(2, relation).log().mean((1, 2)),
        (guess == target).float().mean(1),
        (guess // block == relation[..., 0]).float().mean(1),
        (p - of_relation / block).abs().sum(2).mean(1) / 2,
        *(part.mean(1) for part in a[:, :-1].split(split, dim=1)),
    ]
    return torch.stack(columns, dim=1).double()


class GrowthRates(NamedTuple):
    """Rates at which weights of relations and of subjects grow from small initial ones."""

    relation: float
    subject: float


def growth_rates(facts: Facts) -> GrowthRates:
    """Per unit of flow time, at the saddle where nothing is known, for even answers.

    The subjects' rate is the same on the plateau where p(a|r) is known. Raises ValueError where
    the subjects cannot use all answers equally often.
    """
    s, r, d = facts.subjects, facts.relations, facts.answers
    if s % d:
        raise ValueError(f"{s} subjects cannot use {d} answers equally often")
    return GrowthRates(((1 - 1 / r) / d) ** 0.5 / r, ((1 - 1 / d) / r) ** 0.5 / s)


def predicted_step(rate: float, alpha: float, learning_rate: float, level: float = 1.0) -> float:
    """The step at which an attention weight that starts at alpha is at `level`.

    At the saddle a token's a and the coordinate v of its values along their pull obey a' = rate v
    and v' = rate a, with v = 0 at first because the pull sums to zero: a = alpha cosh(rate t).
    In steps the growth is 1 + learning_rate * rate each.
    """
    return float(np.arccosh(level / alpha) / np.log1p(learning_rate * rate))


def order_ratio(facts: Facts) -> float:
    """Rate of the relations over that of the subjects: (S/R) sqrt((R - 1)/(D - 1))."""
    rates = growth_rates(facts)
    return rates.relation / rates.subject


class Phases(NamedTuple):
    """Steps of each run: relation known, plateau from and to, everything known.

    Known means a loss of at most `level`; the plateau is where the loss is within `tolerance` of
    `height`, relative to it. Infinity where something never happens.
    """

    relation: Float[np.ndarray, " runs"]
    plateau_from: Float[np.ndarray, " runs"]
    plateau_to: Float[np.ndarray, " runs"]
    answer: Float[np.ndarray, " runs"]


def phases(
    record: LinearRecord, height: float, *, tolerance: float = 0.05, level: float = 0.1
) -> Phases:
    """The phases of every run."""
    steps = record.steps.astype(float)
    near = np.abs(record.loss / height - 1) < tolerance
    ever = near.any(axis=1)
    first, last = near.argmax(axis=1), near.shape[1] - 1 - near[:, ::-1].argmax(axis=1)
    return Phases(
        first_fallen(steps, record.relation_loss, level),
        np.where(ever, steps[first], np.inf),
        np.where(ever, steps[last], np.inf),
        first_fallen(steps, record.loss, level),
    )


def attention_steps(record: LinearRecord, level: float = 1.0) -> Float[np.ndarray, "2 runs"]:
    """Steps at which the mean attention to relations, and to subjects, first reaches `level`."""
    steps = record.steps.astype(float)
    return np.stack([first_reached(steps, record.attention[..., i], level) for i in (1, 0)])


def midway(record: LinearRecord, phase: Phases) -> Int[np.ndarray, " runs"]:
    """The record nearest the middle of each run's plateau."""
    middle = (phase.plateau_from + phase.plateau_to) / 2
    return np.abs(record.steps[None] - middle[:, None]).argmin(axis=1)
