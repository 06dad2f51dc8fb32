"""Two accounts of one circuit: pseudo-parameters and associative memories, read side by side.

All settings are ours.
"""

from dataclasses import dataclass

from chapters.companions.birth import Simplified as StreamSettings
from emergence.training import MinimalTraining

# Figure 4's sizes; App. D's rate and batch
MINIMAL = MinimalTraining(n_pairs=16, dim=32, batch_size=256, steps=400)
# half of chapter 07's length and steps, a quarter and half of the source's: enough for the head
STREAM = StreamSettings(length=64, steps=500)


@dataclass(frozen=True)
class TwoAccountsSettings:
    """Two trainings and how often they are read."""

    minimal: MinimalTraining = MINIMAL
    stream: StreamSettings = STREAM
    densely: int = 80  # steps of the minimal model read one by one, the others every fourth
    moment_batches: int = 12  # of the turning time; six give it to 5% (two seeds)

    def read_at(self) -> tuple[int, ...]:
        """The steps at which the minimal model is read."""
        last, dense = self.minimal.steps, min(self.densely, self.minimal.steps)
        return (*range(dense), *range(dense, last, 4), last)
