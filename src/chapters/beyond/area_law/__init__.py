"""The area law: the cases on which it is tested, and the sizes of flows and curricula."""

from dataclasses import dataclass, replace

import numpy as np

from emergence.tasks import Query
from emergence.theory import Landscape, Rates, area, cross_entropy, gaussian_rates
from emergence.theory.area import expected_loss

COPIES = 4


@dataclass(frozen=True)
class Case:
    """Data and units under which alpha and beta emerge."""

    name: str  # as the page's tables call it
    order: tuple[int, ...]  # the pair at each place
    chances: tuple[float, ...]  # of each pair to be asked for
    # whether inputs have Gaussian entries, whose units differ by powers of D
    gaussian: bool = False
    vocabulary: int | None = None  # words of a cross-entropy; None for squared error
    bounded: bool = True  # whether the bounds of the theorem cover it

    def landscape(self) -> Landscape:
        """The loss of the three parameters, a closed formula."""
        if self.vocabulary is None:
            return expected_loss(np.array(self.order), np.array(self.chances))
        query: Query = "last" if self.chances[-1] == 1 else "uniform"
        return cross_entropy.landscape(len(self.order), self.vocabulary, query)

    def rates(self) -> Rates:
        """Of the flow; Gaussian inputs have four dimensions a pair."""
        return gaussian_rates(4 * len(self.order)) if self.gaussian else Rates()


def only(pair: int, n_pairs: int) -> tuple[float, ...]:
    """The chances of a query for one pair, counted from 0."""
    return tuple(float(q == pair) for q in range(n_pairs))


def first(count: int, n_pairs: int) -> tuple[float, ...]:
    """The chances of a query for any of the first pairs."""
    return tuple(float(q < count) / count for q in range(n_pairs))


def first_and_last(n_pairs: int, share: float) -> np.ndarray:
    """The chances of a query for the first pair with this share, and for the last with the rest."""
    return share * np.eye(n_pairs)[0] + (1 - share) * np.eye(n_pairs)[-1]


def sparse(n_pairs: int, draw: np.random.Generator) -> np.ndarray:
    """An adversary's chances: the last pair and up to three more, of very different shares."""
    pairs = draw.choice(np.arange(1, n_pairs - 1), draw.integers(0, 3), replace=False).tolist()
    pairs += [n_pairs - 1, *([0] if draw.random() < 0.5 else [])]
    chances = np.zeros(n_pairs)
    chances[pairs] = 10.0 ** draw.uniform(-4, 0, len(pairs))
    return chances / chances.sum()


@dataclass(frozen=True)
class Adversary:
    """Mixtures that an adversary draws; the larger N, the fewer."""

    sizes: tuple[int, ...]  # N
    count: int
    seed: int


def beside_flow(chances: np.ndarray) -> list[float]:
    """The integrated area of alpha over that of the law and of the settled law."""
    land = expected_loss(np.arange(len(chances)), chances)
    time = area.swept(land, 40.0 * len(chances) ** 2, relative=1e-9).alpha_area
    return [time / area.area_times(land, settled=way).alpha_area for way in (False, True)]


def beside_flows(adversary: Adversary) -> np.ndarray:
    """The same for each of an adversary's mixtures, a row each; a run of a sweep."""
    draw, sizes = np.random.default_rng(adversary.seed), np.array(adversary.sizes)
    drawn = draw.choice(sizes, adversary.count, p=(1 / sizes) / (1 / sizes).sum())
    return np.array([beside_flow(sparse(int(n), draw)) for n in drawn])


def cases(n_pairs: int) -> tuple[Case, ...]:
    """Every corollary's data; N must be a multiple of four."""
    once = tuple(range(n_pairs))
    any_pair = first(n_pairs, n_pairs)
    last = only(n_pairs - 1, n_pairs)
    zipf = 1 / np.arange(1, n_pairs + 1)
    distinct = n_pairs // COPIES
    shuffled = np.random.default_rng(0).permutation(np.repeat(np.arange(distinct), COPIES))
    base = Case("last pair", once, last)
    uniform = Case("any pair", once, any_pair)
    repeated = {
        "copies in turn": np.tile(np.arange(distinct), COPIES),
        "copies in blocks": np.repeat(np.arange(distinct), COPIES),
        "copies shuffled": shuffled,
    }
    return (
        base,
        Case("middle pair", once, only(n_pairs // 2, n_pairs)),
        uniform,
        replace(uniform, name="any pair, Gaussian units", gaussian=True),
        replace(base, name="last pair, cross-entropy", vocabulary=2 * n_pairs, bounded=False),
        replace(uniform, name="any pair, cross-entropy", vocabulary=2 * n_pairs, bounded=False),
        *(
            Case(name, tuple(order.tolist()), first(distinct, distinct), bounded=False)
            for name, order in repeated.items()
        ),
        Case("chance 1/q", once, tuple((zipf / zipf.sum()).tolist())),
        Case("second pair", once, only(1, n_pairs)),
    )
