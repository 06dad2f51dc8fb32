"""Trainings in which parts of the head are held or given, and random initial weights."""

from dataclasses import dataclass, replace
from typing import Any

from emergence.experiments.first_passage import knows_labels_only
from emergence.presets import preset
from emergence.training import MinimalTraining, TokenTraining


@dataclass(frozen=True)
class KnockIn:
    """Beyond the paper: parts of the head held or given, and random initial weights."""

    flow_pairs: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024)
    labels_per_pair: int = 4  # K / N of the cross-entropy model
    n_pairs: int = 8
    dim: int = 16
    batch_size: int = 256
    limit: int = 120
    saturated: float = 12.0  # e^12 outweighs the 2N - 2 other positions
    noises: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0, 4.0)  # sigma in units of 1/2D
    large_noise: float = 2.0  # from which a start counts as large
    noise_dims: tuple[int, ...] = (16, 32)
    token_dim: int = 160  # an exact basis for the pieces needs 2 (V + block) + V = 130
    token_pairs: int = 8
    vocabulary: int = 32
    block_size: int = 17
    token_batch: int = 128
    token_rate: float = 2e-3
    token_limit: int = 400
    knock_pairs: tuple[int, ...] = (4, 12)  # of the full model, beside n_pairs
    sham_pairs: int = 4  # of the transformer's shams
    sham_limit: int = 110  # half as long again as with nothing given
    slower: tuple[int, ...] = (1, 2, 4, 8)  # parts of the rate
    knock_token_pairs: int = 12
    large_seeds: int = 2
    embedding_norm: float = 4.0

    def full(self, **changes: Any) -> MinimalTraining:
        """The full model on Gaussian data, with these changes, ended soon after the head."""
        middle = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, self.limit, until_loss=0.35
        )
        return replace(middle, **changes)

    def tokens(self) -> TokenTraining:
        """The transformer of §2, ended when its loss is half ln N."""
        return TokenTraining(
            self.token_dim,
            self.vocabulary,
            self.block_size,
            self.token_pairs,
            self.token_batch,
            self.token_limit,
            self.token_rate,
            embedding_scale=self.embedding_norm / self.token_dim**0.5,
            until_loss=knows_labels_only(self.token_pairs) / 2,
        )

    def token_size(self, n_pairs: int) -> TokenTraining:
        """The transformer for another number of pairs, half of the vocabulary in a context.

        Its width is what an exact basis needs, the rate times the width that of `tokens`.
        """
        vocabulary, block = 4 * n_pairs, 2 * n_pairs + 1
        dim = 2 * (vocabulary + block) + vocabulary
        return replace(
            self.tokens(),
            dim=dim,
            vocabulary=vocabulary,
            block_size=block,
            n_pairs=n_pairs,
            learning_rate=self.token_rate * self.token_dim / dim,
            embedding_scale=self.embedding_norm / dim**0.5,
            until_loss=knows_labels_only(n_pairs) / 2,
        )

    def sham_run(self) -> TokenTraining:
        """The small transformer, ended where a sham has clearly not helped."""
        return replace(self.token_size(self.sham_pairs), steps=self.sham_limit)

    def at_part(self, times: int) -> TokenTraining:
        """The small transformer at a part of its rate, with as many times the steps."""
        small = self.token_size(self.sham_pairs)
        return replace(small, learning_rate=small.learning_rate / times, steps=small.steps * times)


PRESET = preset(
    paper=KnockIn(),
    smoke=KnockIn(
        flow_pairs=(8, 16, 32),
        n_pairs=3,
        dim=8,
        batch_size=64,
        limit=50,
        noises=(0.1, 1.0),
        large_noise=1.0,
        noise_dims=(8,),
        token_dim=64,
        token_pairs=2,
        vocabulary=8,
        block_size=5,
        token_batch=64,
        token_rate=1e-2,
        token_limit=80,
        knock_pairs=(2,),
        sham_pairs=2,
        sham_limit=100,
        slower=(1, 2),
        knock_token_pairs=3,
        large_seeds=1,
    ),
)
