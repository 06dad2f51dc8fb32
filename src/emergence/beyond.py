"""Settings of the experiments beyond the paper; `presets` names them in both profiles."""

from dataclasses import dataclass, replace
from typing import Any

from .knock_in import Part
from .subspace import INDUCTION_HEAD
from .sweep import knows_labels_only
from .training import MinimalTraining, Optimiser, TokenTraining


@dataclass(frozen=True)
class TransformerSweep:
    """Beyond the paper: the transformer of §2 with N pairs, its vocabulary and block fixed.

    Small widths, so that many runs are affordable. Embeddings start with the same norm at every
    width; the book's run at D = 2048 has norm 2.3, and a larger one emerges sooner.
    """

    contexts: tuple[int, ...] = (2, 3, 4, 6, 8, 10)
    sgd_contexts: tuple[int, ...] = (2, 3, 4, 5, 6, 7)  # descent takes longer
    widths: tuple[int, ...] = (64, 128)
    batch_sizes: tuple[int, ...] = (32, 64, 128, 256)
    batch_pairs: int = 2  # N where the batch size varies
    vocabularies: tuple[int, ...] = (8, 10, 12, 16, 48)
    vocabulary_pairs: int = 4  # N where the vocabulary varies: all of the smallest is in a context
    dim: int = 128
    vocabulary: int = 48  # less than half of it is in a context
    block_size: int = 21
    batch_size: int = 64
    embedding_norm: float = 4.0
    adamw_rate: float = 3e-3
    sgd_rate: float = 0.5  # a rate of 1 diverges when the head forms, 0.003 does not move
    limit: int = 2000

    def training(
        self, n_pairs: int, *, dim: int, optimiser: Optimiser = "adamw", batch_size: int = 0
    ) -> TokenTraining:
        """One run, ended when its loss is half of ln N."""
        return TokenTraining(
            dim,
            self.vocabulary,
            self.block_size,
            n_pairs,
            batch_size or self.batch_size,
            self.limit,
            self.sgd_rate if optimiser == "sgd" else self.adamw_rate,
            embedding_scale=self.embedding_norm / dim**0.5,
            optimiser=optimiser,
            until_loss=knows_labels_only(n_pairs) / 2,
        )


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
    limit: int = 400

    def training(self, **changes: Any) -> MinimalTraining:
        """The run in the middle of the sweeps, with these changes, ended soon after the head."""
        middle = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, self.limit, until_loss=0.35
        )
        return replace(middle, **changes)


@dataclass(frozen=True)
class KnockIn:
    """Beyond the paper: parts of the head held or given, and random initial weights."""

    flow_pairs: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024)
    labels_per_pair: int = 4  # K / N of the cross-entropy model
    sampled_pairs: tuple[int, ...] = (4, 8, 16)
    sampled_dim: int = 32  # orthonormal inputs need 2N
    n_pairs: int = 8
    dim: int = 16
    batch_size: int = 256
    limit: int = 120
    saturated: float = 12.0  # e^12 outweighs the 2N - 2 other positions
    noises: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0, 4.0)  # sigma in units of 1/2D
    noise_dims: tuple[int, ...] = (16, 32)
    token_dim: int = 160  # an exact basis for the pieces needs 2 (V + block) + V = 130
    token_pairs: int = 8
    vocabulary: int = 32
    block_size: int = 17
    token_batch: int = 128
    token_rate: float = 2e-3
    token_limit: int = 400
    embedding_norm: float = 4.0
    embedding_scales: tuple[float, ...] = (0.02, 0.1, 0.2, 0.5)
    scale_dim: int = 256
    scale_rate: float = (
        4e-3  # AdamW moves a product by rate times width: 0.001 at D = 2048 is 0.008
    )
    scale_steps: int = 250

    def scalars(self, n_pairs: int, held: tuple[tuple[str, float], ...]) -> MinimalTraining:
        """The three scalars on orthonormal data, some held, in steps of N/8 of flow time."""
        named = dict(held)
        return MinimalTraining(
            n_pairs,
            self.sampled_dim,
            4,  # every batch gives the population gradient
            16 * n_pairs,  # 2 N^2 of flow time, past the last emergence
            learning_rate=n_pairs / 8 * self.sampled_dim**2,
            data="orthonormal",
            query="last",
            trained=tuple(name for name in INDUCTION_HEAD if name not in named),
            held=held,
        )

    def full(self, **changes: Any) -> MinimalTraining:
        """The full model on Gaussian data, with these changes, ended soon after the head."""
        middle = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, self.limit, until_loss=0.35
        )
        return replace(middle, **changes)

    def tokens(self, given: tuple[Part, ...] = ()) -> TokenTraining:
        """The transformer with pieces of the head in place, ended when its loss is half ln N."""
        return TokenTraining(
            self.token_dim,
            self.vocabulary,
            self.block_size,
            self.token_pairs,
            self.token_batch,
            self.token_limit,
            self.token_rate,
            embedding_scale=self.embedding_norm / self.token_dim**0.5,
            given=given,
            until_loss=knows_labels_only(self.token_pairs) / 2,
        )

    def scaled(self, embedding_scale: float) -> TokenTraining:
        """The transformer of §2 at a smaller width with another scale of its embeddings."""
        return replace(
            self.tokens(),
            dim=self.scale_dim,
            learning_rate=self.scale_rate,
            steps=self.scale_steps,
            embedding_scale=embedding_scale,
            until_loss=None,
        )


@dataclass(frozen=True)
class UniformQueries:
    """Beyond the paper: the query asks for any pair; the flow, and the three scalars on data."""

    flow_pairs: tuple[int, ...] = tuple(2**k for k in range(3, 14))
    limit_pairs: tuple[int, ...] = tuple(2**k for k in range(3, 24))  # of the limiting flow
    checked_pairs: tuple[int, ...] = (1, 2, 5, 12)
    sampled_pairs: tuple[int, ...] = (4, 8, 16, 32)
    dim: int = 64
    batch_size: int = 64
    place_pairs: int = 64  # N where the loss is followed place by place

    def step_time(self, n_pairs: int) -> float:
        """The flow time of one step: gamma needs N, so that sixteen steps make one."""
        return n_pairs / 16

    def training(self, n_pairs: int, end: float) -> MinimalTraining:
        """The three scalars on orthonormal data up to this flow time."""
        return MinimalTraining(
            n_pairs,
            self.dim,
            self.batch_size,
            int(end / self.step_time(n_pairs)) + 1,
            learning_rate=self.step_time(n_pairs) * self.dim**2,
            data="orthonormal",
            query="uniform",
            trained=INDUCTION_HEAD,
        )


@dataclass(frozen=True)
class EffectiveContext:
    """Beyond the paper: pairs in copies, and layers that see a window."""

    distinct: tuple[int, ...] = (16, 32, 64, 128, 256)
    copies: tuple[int, ...] = (1, 2, 4, 8)
    window_pairs: int = 1024
    windows: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024)
    n_pairs: int = 16
    dim: int = 16
    batch_size: int = 256
    limit: int = 400
    trained_windows: tuple[int, ...] = (2, 4, 8, 16)

    def training(self, **changes: Any) -> MinimalTraining:
        """The full model on Gaussian data, with these changes, ended soon after the head."""
        middle = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, self.limit, until_loss=0.35
        )
        return replace(middle, **changes)
