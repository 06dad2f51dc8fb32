"""A loss at every position: the sizes of the flows, and the names of the mixtures."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from emergence.presets import preset
from emergence.tasks import Query

Weights = Float[np.ndarray, " pairs"]
RULES: dict[Query, str] = {"last": "last pair", "uniform": "any pair"}


@dataclass(frozen=True)
class EveryPosition:
    """Sizes of the flows."""

    # N of three parameters, the last two a factor of two apart
    three_pairs: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
    largest: int = 2**18  # N at which the law is compared with the flow, last pair
    late_pairs: int = 1024  # N of the mixtures of late prefixes and of what is skipped
    # how many of the shortest prefixes are left out
    skipped: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    full_last: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512)  # N of all nineteen, last pair
    full_any: tuple[int, ...] = (8, 16, 32, 64, 256, 512)  # N of all nineteen, any pair
    followed_pairs: int = 32  # N of the curves of all nineteen
    predicted_pairs: int = 128  # largest N whose trainings are compared with population descent
    powers: tuple[float, ...] = (0.0, 0.5, 1.0, 1.5, 2.0)  # s of weights in proportion to n^-s
    # N of these with three parameters, the last two a factor of two apart
    weighted_pairs: tuple[int, ...] = (256, 512, 1024, 2048, 4096)
    weighted_full: tuple[int, ...] = (128, 256)  # the same with all nineteen
    enclosed: int = 256  # N0 of the bounds for every N >= N0
    cells: int = 400  # steps of these bounds up to beta = 1
    few_step: int = 9  # below N0, every which N is integrated
    # prefixes of the limit flow of all nineteen, last and any pair
    limit_prefixes: tuple[int, int] = (16384, 1024)
    dropped_pairs: tuple[int, int] = (32, 16)  # N of trainings without the first k, any and last
    dropped: tuple[int, ...] = (0, 1, 2, 4, 8)  # these k
    dropped_steps: int = 200  # of a training
    dropped_tokens: tuple[int, int] = (16, 4800)  # N of the transformer, and its most steps
    dropped_seeds: int = 5

    def full_pairs(self, query: Query) -> tuple[int, ...]:
        """The N of all nineteen under a query rule."""
        return self.full_last if query == "last" else self.full_any


PRESET = preset(
    paper=EveryPosition(),
    smoke=EveryPosition(
        three_pairs=(16, 32, 64),
        largest=512,
        late_pairs=64,
        skipped=(1, 8, 16),
        full_last=(2, 4),
        full_any=(2, 4),
        followed_pairs=4,
        predicted_pairs=32,
        weighted_pairs=(16, 32, 64),
        weighted_full=(2, 4),
        cells=50,
        few_step=100,
        limit_prefixes=(64, 32),
        dropped_pairs=(3, 3),
        dropped=(0, 1, 2),
        dropped_steps=40,
        dropped_tokens=(3, 400),
        dropped_seeds=1,
    ),
)


def inverse_power(n_pairs: int, power: float) -> Weights:
    """Weights of the prefixes in proportion to n^-power, with a sum of 1."""
    weights = np.arange(1, n_pairs + 1.0) ** -power
    return weights / weights.sum()


def late(n_pairs: int, skipped: int) -> Weights:
    """Equal weights of all prefixes but the shortest."""
    weights = (np.arange(n_pairs) >= skipped).astype(float)
    return weights / weights.sum()
