"""Neural weight norm and Kolmogorov complexity: looped networks of ternary weights.

`model` defines, runs and builds them; `tag` is an upper bound on weight; `small` enumerates,
`prior` bounds and trains. All sizes are ours, since only an abstract is known.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainedPrinters:
    """Looped networks of real weights that learn to print strings."""

    units: int = 6
    runs: int = 4  # a string; the least norm counts
    trained_steps: int = 1000  # three times as many change no median norm by more than 3%
    learning_rate: float = 0.03
    decay: float = 1e-3  # the least that leaves nearly all strings learned
