"""Two accounts of one circuit: pseudo-parameters and associative memories, read side by side.

All settings are ours.
"""

from dataclasses import dataclass

from chapters.companions.birth import Settings as StreamSettings
from emergence.training import MinimalTraining

# Figure 4's sizes; App. D's rate and batch
MINIMAL = MinimalTraining(n_pairs=16, dim=32, batch_size=256, steps=400)
# half of chapter 07's length and steps, a quarter and half of the source's: enough for the head
STREAM = StreamSettings(length=64, steps=500)


@dataclass(frozen=True)
class SmallTimes:
    """Gradient flow from zero on one batch of two models, small enough to integrate."""

    n_pairs: int = 4
    dim: int = 8
    batch_size: int = 512
    length: int = 32  # of the bigram model's contexts
    stream_dim: int = 64
    sequences: int = 32
    first: float = 0.01  # times: at the first the theorem holds to a percent, at the last it fails
    last: float = 10.0
    n_times: int = 22


@dataclass(frozen=True)
class TwoAccountsSettings:
    """Two trainings and how often they are read."""

    minimal: MinimalTraining = MINIMAL
    stream: StreamSettings = STREAM
    densely: int = 80  # steps of the minimal model read one by one, the others every fourth
    small: SmallTimes = SmallTimes()
    moment_batches: int = 12  # of the turning time; six give it to 5% (two seeds)

    def read_at(self) -> tuple[int, ...]:
        """The steps at which the minimal model is read."""
        last, dense = self.minimal.steps, min(self.densely, self.minimal.steps)
        return (*range(dense), *range(dense, last, 4), last)
