"""k-hop: the composition of k functions given in context, and in how many layers and steps.

A network composes k functions by pointer doubling in one-hot addresses, without error. The context
gives f_1 .. f_k on {0 .. N - 1}. An address (i, v) stands for a value v to which f_i is applied
next; (k + 1, v) is an answer v. There is a token for each address: its near end is the address
itself, its far end is (i + 1, f_i(v)), and an answer's far end is its own. A query for x has the
far end (1, x) and no near end, so no token attends to it.

The residual stream has L + 2 blocks, each of one address: block 0 is the near end, block l the far
end before layer l. In layer l each token attends to the token whose near end is its own far end,
and copies that token's far end into block l + 1. All numbers are 0 or 1 and their sums are small
whole numbers, so double precision is exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from chapters.companions.retrieval.model import Architecture, Stages
from chapters.companions.retrieval.training import RetrievalTraining, train
from emergence.analysis import first_reached
from emergence.running.records import StoredRuns

Functions = Int[Tensor, "batch k n"]


def weights(
    layer: int, n_layers: int, n_addresses: int, device: torch.device | None = None
) -> list[Float[Tensor, "dim dim"]]:
    """W_KQ and W_OV of layer 1 .. L: identities, each in one place of a block matrix.

    The score of a token with another one is key' W_KQ query, and it copies W_OV times that token.
    """
    if not 1 <= layer <= n_layers:
        raise ValueError(f"layer must be between 1 and {n_layers}, got {layer}")
    identity = torch.eye(n_addresses, dtype=torch.float64, device=device)
    places = identity.new_zeros(2, n_layers + 2, n_layers + 2)
    places[0, 0, layer] = places[1, layer + 1, layer] = 1
    return [torch.kron(place, identity) for place in places]


def embedded(functions: Functions, n_layers: int) -> Float[Tensor, "batch tokens dim"]:
    """A token for each address, then the queries for 0 .. N - 1; blocks from 2 on are empty."""
    batch, k, n = functions.shape
    n_addresses = (k + 1) * n
    next_level = torch.arange(1, k + 1, device=functions.device).view(-1, 1) * n
    answers = torch.arange(k * n, n_addresses, device=functions.device).expand(batch, n)
    starts = torch.arange(n, device=functions.device).expand(batch, n)
    far = torch.cat([(next_level + functions).flatten(1), answers, starts], dim=1)
    identity = torch.eye(n_addresses, dtype=torch.float64, device=functions.device)
    stream = identity.new_zeros(batch, n_addresses + n, n_layers + 2, n_addresses)
    stream[:, :n_addresses, 0] = identity
    stream[:, :, 1] = one_hot(far, n_addresses).double()
    return stream.flatten(2)


def attend(
    stream: Float[Tensor, "batch tokens dim"],
    match: Float[Tensor, "dim dim"],
    copy: Float[Tensor, "dim dim"],
) -> Float[Tensor, "batch tokens dim"]:
    """Add what each token copies from those with the greatest score, the mean if they are many."""
    scores = stream @ match.T @ stream.mT
    greatest = (scores == scores.amax(dim=-1, keepdim=True)).double()
    attention = greatest / greatest.sum(dim=-1, keepdim=True)
    return stream + attention @ (stream @ copy.T)


class QueryPlace(NamedTuple):
    """Where each query stands after each layer: f_place is applied next, to value."""

    place: Int[Tensor, "layers_and_start batch n"]
    value: Int[Tensor, "layers_and_start batch n"]


def compose(functions: Functions, n_layers: int) -> QueryPlace:
    """Run the network and read all blocks of the queries but the first."""
    _, k, n = functions.shape
    n_addresses = (k + 1) * n
    stream = embedded(functions, n_layers)
    for layer in range(1, n_layers + 1):
        stream = attend(stream, *weights(layer, n_layers, n_addresses, stream.device))
    blocks = stream[:, n_addresses:].unflatten(2, (n_layers + 2, n_addresses))[:, :, 1:]
    address = blocks.argmax(dim=-1).permute(2, 0, 1)
    return QueryPlace(address // n + 1, address % n)


def composed(functions: Functions) -> Int[Tensor, "batch n"]:
    """The composition by looking up one function after another."""
    values = torch.arange(functions.shape[2], device=functions.device).expand(len(functions), -1)
    for i in range(functions.shape[1]):
        values = functions[:, i].gather(1, values)
    return values


def random_functions(
    count: int, k: int, n: int, *, generator: torch.Generator, permutations: bool = False
) -> Functions:
    """Functions drawn uniformly from all, or from the permutations."""
    shape, device = (count, k, n), generator.device
    if permutations:
        return torch.rand(shape, generator=generator, device=device).argsort(dim=-1)
    return torch.randint(n, shape, generator=generator, device=device)


def enough_layers(k: int) -> int:
    """The least whole number that is at least log2(k), plus 1, in whole numbers."""
    return (k - 1).bit_length() + 1


def least_layers(k: int) -> int:
    """The least t with 2^t > k: what this construction needs, since it reaches 2^t - 1 hops."""
    return k.bit_length()


# How little one k-hop question says about what is hidden: agreement of two tuples, and its bound.
#
# The context gives permutations s_1 .. s_k of N symbols; permutations p_1 .. p_k are hidden and the
# same in every context. Asked for x, one answers s_k p_k ... s_1 p_1 (x). Two hidden tuples agree
# on a random question a little more often than by chance, by a product over hops of
# (F_i - 1) / (N - 1), where F_i counts the symbols that the two i-th permutations send to the same
# place.
def tuples(n: int, k: int) -> Int[np.ndarray, "tuples k n"]:
    """All tuples of k permutations of N symbols, (N!)^k of them."""
    return np.array(list(product(permutations(range(n)), repeat=k)))


def answers(n: int, k: int) -> Int[np.ndarray, "hidden questions"]:
    """The answer of every hidden tuple to every question, a context and a symbol."""
    each = tuples(n, k)  # hidden along the first axis, given in context along the second
    place = np.arange(len(each))
    value = np.broadcast_to(np.arange(n), (len(each), len(each), n))
    for hop in each.transpose(1, 0, 2):
        value = hop[place[:, None], hop[place[:, None, None], value]]
    return value.reshape(len(each), -1)


def agreeing(n: int, k: int) -> Int[np.ndarray, "hidden hidden"]:
    """On how many questions each two hidden tuples agree, by looking at all of them."""
    here = (answers(n, k)[None] == np.arange(n)[:, None, None]).astype(float)
    return (here @ here.swapaxes(1, 2)).sum(axis=0).astype(int)  # sums of ones, exact below 2^53


def formula(n: int, k: int) -> Int[np.ndarray, "hidden hidden"]:
    """The same counts by the theorem: questions times (1/N + (1 - 1/N) prod (F_i - 1)/(N - 1)).

    Raises ArithmeticError if one is not whole.
    """
    hidden, powers = tuples(n, k), (n - 1) ** k
    agreements = (hidden[:, None] == hidden[None]).sum(-1)  # F_i
    together = (agreements - 1).prod(-1)
    counts, left = np.divmod(len(hidden) * (powers + (n - 1) * together), powers)
    if left.any():
        raise ArithmeticError("a count of questions is not whole")
    return counts


def bound(n: int, k: int) -> float:
    """The most that a query of norm 1 can catch: its mean squared correlation over hidden tuples.

    (1 - 1/N) (N - 1)^(-2k), the one eigenvalue of the excess over all pairs that is not zero. So no
    query is answered within a tolerance t otherwise than by chance for more than a share bound/t^2
    of the tuples (Chebyshev): t^2 (N - 1)^(2k) such queries at least to find all of them out.
    """
    return (1 - 1 / n) * (n - 1) ** (-2.0 * k)


def excess_eigenvalues(n: int, k: int) -> Float[np.ndarray, " rank"]:
    """The eigenvalues of the excess, as means over tuples, that are not zero; by counting."""
    counts = agreeing(n, k)
    size = len(counts)
    values = np.linalg.eigvalsh((counts / (size * n) - 1 / n) / size)
    return values[values > 1e-9 * values.max()]


def gradient_shares(
    n: int, k: int, width: int, *, generator: torch.Generator
) -> Float[np.ndarray, " parameters"]:
    """How much of its gradient a network owes to what is hidden, as a share of the bound.

    A random network of one ReLU layer reads the context one-hot. By each of its weights, the
    gradient of the cross-entropy over all questions is taken for every hidden tuple; its variance
    over tuples is divided by `bound` and the mean square of the derivative of the logits. The
    bound holds where no share exceeds 1.
    """
    given, right = tuples(n, k), torch.from_numpy(answers(n, k))
    context = one_hot(torch.from_numpy(given), n).flatten(1).double()
    queries = torch.eye(n, dtype=torch.float64).repeat(len(given), 1)
    inputs = torch.cat([context.repeat_interleave(n, 0), queries], dim=1)
    first = torch.randn(inputs.shape[1], width, generator=generator, dtype=torch.float64)
    second = torch.randn(width, n, generator=generator, dtype=torch.float64) / width**0.5
    before = inputs @ first / inputs.shape[1] ** 0.5
    inner, active = before.relu(), (before > 0).double()
    targets = one_hot(right, n).double() - 1 / n  # tuples, questions, N
    signal = torch.einsum("tqn,qw->twn", targets, inner) / len(inputs)  # by the second weights
    allowed = bound(n, k) * inner.square().mean(0)[:, None].expand(width, n)
    shares = [(signal.var(0, correction=0) / allowed)[allowed > 0]]  # a dead unit has none
    for unit in range(width):  # by the first weights: derivative input * active * second
        derivative = inputs * active[:, unit : unit + 1]
        caught = torch.einsum("tqn,n,qi->ti", targets, second[unit], derivative) / len(inputs)
        size = derivative.square().mean(0) * second[unit].square().sum()
        shares.append((caught.var(0, correction=0) / (bound(n, k) * size))[size > 0])
    return torch.cat(shares).numpy()


def mean_square(n: int) -> Fraction:
    """The mean over permutations of ((F - 1)/(N - 1))^2, F the symbols that stay; (N - 1)^(-2)."""
    stay = [sum(place == symbol for place, symbol in enumerate(p)) for p in permutations(range(n))]
    return Fraction(sum((f - 1) ** 2 for f in stay), len(stay) * (n - 1) ** 2)


# Which questions a network learns, and after how many steps: cells of one phase diagram.
#
# A cell is a depth, a number of heads, the length of the chains and the hops asked for, stage by
# stage. A run that ends without success is censored: its wait is longer than its steps.
CHAINS = 3
GUESS = 1 / CHAINS  # among the ends of the chains
LARGE = 86  # contexts a step, where a small batch hides the signal of three or four hops alone
SPARE = (1, 17)  # of four facts a chain, 15 symbols in a context: vocabularies of 16 and 32
HALF_WAY = (1 + GUESS) / 2  # between a guess and certainty
FIRST_SEED = 0  # of the cells that name none; who does takes minutes, or has seeds of its own


@dataclass(frozen=True)
class Cell:
    """One cell; sizes are ours, the least at which three layers learn four hops fast."""

    n_layers: int
    stages: Stages  # the last one names the hops that are to be learned
    limit: int  # steps at most
    n_heads: int = 2
    n_seeds: int = 5
    first_seed: int = 0
    stage_steps: int = 200
    n_hops: int = 4  # D, the facts of a chain
    record_every: int = 25
    test_size: int = 32  # contexts a number of hops, with a question a chain
    batch_size: int = 32  # contexts
    dim: int = 64
    learning_rate: float = 2e-3  # constant after the warm-up
    warm_up: int = 100
    until: float = 0.95
    spare: int = 0  # symbols beyond those of one context; with none, every context has them all

    @property
    def asked(self) -> tuple[int, ...]:
        """The hops asked for in the end."""
        return self.stages[-1]

    def training(self) -> RetrievalTraining:
        """The training of this cell."""
        symbols = CHAINS * (self.n_hops + 1) + self.spare
        network = Architecture(self.n_layers, self.n_heads, self.dim, self.dim, symbols)
        return RetrievalTraining(
            stages=self.stages,
            stage_steps=self.stage_steps,
            steps=self.limit,
            until=self.until,
            architecture=network,
            n_hops=self.n_hops,
            n_chains=CHAINS,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            warm_up=self.warm_up,
            final_share=1.0,
            record_every=self.record_every,
            test_size=self.test_size,
            causal=False,
        )


class RightAnswers(NamedTuple):
    """Right answers on fixed contexts over training, to a question a chain of each context."""

    cell: Cell
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times n_hops"]

    @property
    def accuracy(self) -> Float[np.ndarray, "runs times n_hops"]:
        """Share of right answers."""
        return self.right / (CHAINS * self.cell.test_size)

    def learned(self, hop: int) -> Float[np.ndarray, " runs"]:
        """The step at which each run first answers so many hops `HALF_WAY`; infinity if never."""
        return first_reached(self.moments, self.accuracy[..., hop - 1], HALF_WAY)

    @property
    def waits(self) -> Float[np.ndarray, " runs"]:
        """The step at which the last of the hops asked for is learned; infinity where censored."""
        return np.max([self.learned(hop) for hop in self.cell.asked], axis=0)


def staged(n_layers: int, stages: Stages, limit: int, **more: Any) -> Cell:
    """A cell that asks for some hops, and later for others."""
    return Cell(n_layers, stages, limit, **{"first_seed": FIRST_SEED, **more})


def alone(n_layers: int, hops: int, limit: int, **more: Any) -> Cell:
    """A cell that asks for so many hops only."""
    return staged(n_layers, ((hops,),), limit, **more)


def mixed(n_layers: int, hops: int, limit: int, **more: Any) -> Cell:
    """A cell that asks for one to so many hops, equally often."""
    return staged(n_layers, (tuple(range(1, hops + 1)),), limit, **more)


# Two hops alone where they were not learned within the limit, and the mixture beside them: with
# four times the limit, and with four times the batch, twice the width or other seeds besides.
CHANGES: tuple[dict[str, int], ...] = (
    {},
    {"batch_size": 128, "first_seed": 0},
    {"dim": 128, "first_seed": 0},
    {"first_seed": 500},
)
VARIED: tuple[tuple[Cell, Cell], ...] = tuple(
    (alone(3, 2, 8000, **more), mixed(3, 4, 2000, **more)) for more in CHANGES
)
OTHERS = {cell for pair in VARIED[1:] for cell in pair}

# In the order in which they are computed: what decides most, and what costs least, comes first.
CELLS: tuple[Cell, ...] = (
    # the same questions where a context leaves some of the symbols out
    *(alone(3, 2, 2000, spare=spare) for spare in SPARE),
    mixed(3, 4, 2000, spare=SPARE[-1]),
    alone(3, 1, 2000, spare=SPARE[-1]),
    alone(3, 2, 2000, n_hops=2, spare=SPARE[-1]),
    mixed(3, 2, 2000, n_hops=2, spare=SPARE[-1]),
    alone(3, 3, 4000, batch_size=LARGE, spare=SPARE[-1]),
    alone(3, 4, 6000, batch_size=LARGE, spare=SPARE[-1]),
    # every context has all symbols
    mixed(3, 4, 2000),
    *(alone(layers, 1, 2000) for layers in (3, 1, 2)),
    alone(3, 2, 2000),
    *(alone(layers, 1, 2000, n_hops=1) for layers in (3, 1)),
    *(alone(layers, 2, 2000, n_hops=2) for layers in (3, 2)),
    mixed(3, 2, 2000, n_hops=2),
    *(mixed(layers, 3, 2000, n_hops=3, n_seeds=3) for layers in (3, 2)),
    mixed(3, 4, 2000, batch_size=LARGE, n_seeds=1),
    *(alone(3, 4, 6000, batch_size=LARGE, n_seeds=1, first_seed=seed) for seed in (0, 1)),
    mixed(1, 2, 2000, n_hops=2, n_seeds=3),
    alone(1, 2, 2000, n_hops=2, n_seeds=3),
    *(alone(3, 3, 4000, batch_size=LARGE, n_hops=3, n_seeds=1, first_seed=s) for s in (0, 1)),
    staged(3, ((4,), (3, 4), (1, 2, 3, 4)), 2400, n_seeds=3),
    staged(3, ((1,), (1, 2), (1, 2, 3, 4)), 2000, n_seeds=3),
    mixed(2, 4, 4000, n_seeds=2),
    *(mixed(3, 4, 2000, n_heads=heads, n_seeds=3) for heads in (1, 4)),
    staged(3, ((2,), (1, 2), (1, 2, 3, 4)), 2400, n_seeds=3),
    alone(2, 3, 4000, n_hops=3, n_seeds=3),
    mixed(4, 4, 2000, n_seeds=3),
    mixed(2, 5, 4000, n_hops=5, n_seeds=2),  # one fact more than two layers can follow
    mixed(3, 8, 4000, n_hops=8, n_seeds=1),  # one more than three can by merging forwards
    *(alone(layers, 4, 8000, n_seeds=2) for layers in (2, 4)),
    *(cell for pair in VARIED for cell in pair if cell != mixed(3, 4, 2000)),
    *(alone(3, 3, 16_000, batch_size=LARGE, n_hops=3, n_seeds=1, first_seed=s) for s in (0, 1)),
    *(alone(3, 4, 24_000, batch_size=LARGE, n_seeds=1, first_seed=seed) for seed in (0, 1)),
)


def latest(measured: Mapping[Cell, RightAnswers]) -> dict[Cell, RightAnswers]:
    """The cells with the latest limit among those that are equal but for their limit."""
    longest = {replace(cell, limit=0): cell for cell in sorted(measured, key=lambda c: c.limit)}
    return {cell: measured[cell] for cell in measured if cell in longest.values()}


def run(cell: Cell) -> dict[str, Any]:
    """Train a cell's networks until all have learned; right answers by run, time and hops."""
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    record = train(cell.training(), seeds, device=torch.device("cpu"), label=f"{cell.stages}")
    right = (record.accuracy.numpy() * (CHAINS * cell.test_size)).round().astype(int)
    return {"moments": record.moments.tolist(), "right": right.tolist()}


RUNS = StoredRuns(run, CELLS)


def read(text: str) -> dict[Cell, RightAnswers]:
    """What was measured of each cell of a file. Raises ValueError for a file of other runs."""
    return {
        cell: RightAnswers(cell, np.array(arrays["moments"]), np.array(arrays["right"]))
        for cell, arrays in RUNS.read(text).items()
    }


def median_wait(measured: RightAnswers) -> float:
    """The median of the `waits` of runs, in steps; a censored one counts as its limit."""
    return float(np.median(np.minimum(measured.waits, measured.moments[-1])))


def waits_in_words(measured: RightAnswers) -> str:
    """The `waits` of all runs as text, such as 75, 100, > 2000."""
    limit = measured.moments[-1]
    return ", ".join(f"{w:.0f}" if np.isfinite(w) else f"> {limit}" for w in measured.waits)
