"""Figure 5: emergence times of the flow, and steps of training at App. F's settings."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from emergence.analysis import first_reached
from emergence.models import Mask
from emergence.presets import preset
from emergence.running.memo import kept
from emergence.subspace import HEAD, INDUCTION_HEAD
from emergence.theory import EmergenceTimes, emergence_times, gradient_descent
from emergence.training import MinimalTraining, train_minimal


@dataclass(frozen=True)
class EmergenceSweep:
    """Figure 5: the gradient flow over many N, and sampled training at App. F's settings.

    One step of the three scalars at learning rate L, with the mean over dimensions as the loss,
    moves the flow by L/D (chapter F derives it). Orthonormal inputs
    need D >= 2N, so D = 256 ends at N = 128; `sampled_pairs` are trained on data, the others by
    the exact population gradient, to which the sampled one is equal on orthonormal inputs.
    If `n_pairs` is given, this N is in all three.
    """

    flow_pairs: tuple[int, ...] = tuple(2**k for k in range(2, 21))
    descent_pairs: tuple[int, ...] = (4, 8, 16, 32, 64, 128)
    sampled_pairs: tuple[int, ...] = (2, 4, 8, 16)
    dim: int = 256
    batch_size: int = 64
    learning_rate: float = 100.0
    thresholds: tuple[float, float, float] = (0.1, 0.1, 0.5)  # alpha, beta, gamma
    small_pairs: int = 64  # the order of emergence is looked at for every N up to it
    large_pairs: int = 64  # N from which powers are fitted
    phase_pairs: tuple[int, ...] = tuple(2**k for k in range(4, 15))  # of speeds in each phase
    shown_pairs: tuple[int, ...] = (4, 8)  # drawn in App. F
    gaussian_dims: tuple[int, ...] = tuple(2**k for k in range(7, 14))  # D of Gaussian inputs
    gaussian_pairs: int = 4  # their N
    gaussian_batches: int = 8  # of 64 sequences, a D
    mask: Mask = "strict"  # of Theorem 2 (App. B.2)
    n_pairs: int | None = None  # one more N, for who wants to see another

    def __post_init__(self) -> None:
        if self.n_pairs is not None:
            for name in ("flow_pairs", "descent_pairs", "sampled_pairs"):
                pairs = tuple(sorted({*getattr(self, name), self.n_pairs}))
                object.__setattr__(self, name, pairs)
        largest = max(*self.descent_pairs, *self.sampled_pairs)
        if self.dim < 2 * largest or self.dim % 2:
            raise ValueError(
                f"dim should be even and at least {2 * largest}, for orthonormal inputs with "
                f"N = {largest}, got {self.dim}"
            )

    @property
    def step_time(self) -> float:
        """The flow time of one training step (chapter F)."""
        return self.learning_rate / self.dim

    def flow_times(self, n_pairs: int) -> EmergenceTimes:
        """Emergence times of the gradient flow at App. F's thresholds, in flow time."""
        return emergence_times(int(n_pairs), threshold=self.thresholds, mask=self.mask)

    def training(self, n_pairs: int) -> MinimalTraining:
        """Sampled training of the three scalars, a fifth longer than the flow needs."""
        return MinimalTraining(
            n_pairs,
            self.dim,
            self.batch_size,
            steps=int(1.2 * self.flow_times(n_pairs).icl / self.step_time) + 10,
            learning_rate=self.learning_rate * self.dim,  # scalars move D times as fast as weights
            data="orthonormal",
            query="last",
            mask=self.mask,
            trained=INDUCTION_HEAD,
        )

    def point(self, n_pairs: int, seed: int, device: torch.device) -> "Point":
        """Sampled training at one size from one seed."""
        return Point(self, n_pairs, seed, device.type)

    @kept
    def exact_steps(self, n_pairs: int) -> Float[np.ndarray, "3"]:
        """Steps until alpha, beta and gamma emerge in descent by the exact gradient."""
        run = self.training(n_pairs)
        # One 1/D from the mean over dimensions, one from the coordinates (chapter F).
        path = gradient_descent(
            n_pairs, run.learning_rate / self.dim**2, run.steps - 1, mask=self.mask
        )
        return self.reached(np.stack([path.alpha, path.beta, path.gamma]))

    def reached(self, curves: Float[np.ndarray, "3 times"]) -> Float[np.ndarray, "3"]:
        """The first steps at which alpha, beta and gamma are at their thresholds."""
        steps = np.arange(curves.shape[1])
        pairs = zip(curves, self.thresholds, strict=True)
        return np.array([first_reached(steps, curve[None], level)[0] for curve, level in pairs])


@dataclass(frozen=True)
class Point:
    """One training run of Figure 5."""

    settings: EmergenceSweep
    n_pairs: int
    seed: int
    device: str = "cpu"


def emergence_steps(point: Point) -> Float[np.ndarray, "3"]:
    """Steps until alpha, beta and gamma emerge in training on sampled data; a run of a sweep."""
    record = train_minimal(
        point.settings.training(point.n_pairs),
        (point.seed,),
        device=torch.device(point.device),
        label=f"N = {point.n_pairs}, seed {point.seed}",
    )
    return point.settings.reached(record.pseudo[0, :, HEAD].T.numpy())


PRESET = preset(
    paper=EmergenceSweep(),
    smoke=EmergenceSweep(
        flow_pairs=(4, 8, 16, 32),
        descent_pairs=(2, 4, 8),
        sampled_pairs=(2, 4),
        dim=32,
        learning_rate=10.0,
        small_pairs=8,
        large_pairs=4,
        phase_pairs=(4, 8, 16, 32),
        shown_pairs=(2, 4),
        gaussian_dims=(2**7, 2**8, 2**9),
        gaussian_batches=2,
    ),
)
