"""The transformer of §2 and the full model of §4, one setting varied at a time."""

from dataclasses import dataclass, field, replace
from typing import Any

from emergence.presets import preset
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class TransformerSweep:
    """Beyond the paper: what the chapter trains of the transformer of §2, the stored grid aside.

    Its sizes and settings are those of `token_grid.cells`.
    """

    again: int = 2  # N of the stored cells that are trained again
    noisy: tuple[int, ...] = (16, 64, 256)  # B at which the share of noise is measured
    noise_seeds: tuple[int, ...] = (0, 1, 2)


@dataclass(frozen=True)
class MinimalSweep:
    """Beyond the paper: the full 28 D^2 model on Gaussian data, one setting varied at a time."""

    contexts: tuple[int, ...] = (2, 3, 4, 6, 8, 12, 16)
    dims: tuple[int, ...] = (8, 12, 16, 24, 32)
    learning_rates: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    batch_sizes: tuple[int, ...] = (64, 128, 256, 512)
    n_pairs: int = 8
    dim: int = 16
    batch_size: int = 256
    fine_rate: float = 0.25  # where a remainder of some percent is measured: four times the steps
    limit: int = 400

    def training(self, **changes: Any) -> MinimalTraining:
        """The run in the middle of the sweeps, with these changes, ended soon after the head."""
        middle = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, self.limit, until_loss=0.35
        )
        return replace(middle, **changes)


@dataclass(frozen=True)
class RealTransformers:
    """Both sweeps, and the sizes at which the reduced flow is held against its laws."""

    minimal: MinimalSweep = field(default_factory=MinimalSweep)
    transformer: TransformerSweep = field(default_factory=TransformerSweep)
    tall: int = 2**12  # N of the three-halves law
    crossing: tuple[int, ...] = (64, 1024)  # N of the crossover


PRESET = preset(
    paper=RealTransformers(),
    smoke=RealTransformers(
        MinimalSweep(
            contexts=(2, 3, 4),
            dims=(4, 6, 8),
            learning_rates=(0.5, 1.0, 2.0),
            batch_sizes=(32, 64, 128),
            n_pairs=3,
            dim=8,
            batch_size=64,
            fine_rate=0.5,
            limit=60,
        ),
        TransformerSweep(
            noisy=(64, 256),
            noise_seeds=(0,),
        ),
        tall=2**8,
        crossing=(64,),
    ),
)
