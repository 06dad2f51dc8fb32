"""Settings of the trainings of §4 and §2, with a reason wherever the paper gives none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from emergence.models import AttentionOnlyTransformer, Maps, Mask, Windows
from emergence.presets import check
from emergence.subspace import NAMES
from emergence.tasks import Query

Data = Literal["gaussian", "orthonormal"]
Method = Literal["fast", "dense"]
Optimiser = Literal["adamw", "sgd"]
Supervision = Literal["query", "every"]


@dataclass(frozen=True)
class MinimalTraining:
    """The settings of gradient descent of the disentangled transformer (§4, Apps. C, D).

    The loss is the mean over batch and dimensions.

    Args:
        n_pairs: pairs N in a sequence, >= 1.
        dim: dimension D of an item, label or position, even; for orthonormal data >= 2N.
        batch_size: fresh sequences per step, >= 1.
        steps: number of updates, >= 1.
        learning_rate: of gradient descent, > 0.
        data: `gaussian` (Eq. 5) or `orthonormal` (Assumption 7).
        query: which pair the query asks for: `uniform`, any pair, or `last`.
        supervision: `query`, one query a sequence (§4), or `every`, one for each prefix of n pairs,
            n = 1 to N, whose loss is the mean over prefixes (chapter A loss at every position).
        copies: how often each distinct pair occurs in a sequence, a divisor of N (§7.2).
        mask: `strict`, without the position itself (App. B.2), or `causal`, with it.
        windows: how many positions back a row of layers 1 and 2 attends, >= 1 each; None for all.
        trained: names of the pseudo-parameters that are trained; empty for all 28 D^2 weights.
        snapshots: numbers of updates, 0 to `steps`, after which weights are kept.
        record_every: number of updates between measurements, >= 1.
        initial_scale: standard deviation of the initial weights, >= 0, and 0 where only
            pseudo-parameters are trained.
        held: names of pseudo-parameters that are not trained, and their values.
        until_loss: training ends once every run has had a batch loss this low; None for never.

    Raises:
        ValueError: if a setting is out of its range or a name is unknown.
    """

    n_pairs: int
    dim: int
    batch_size: int
    steps: int
    learning_rate: float = 1.0
    data: Data = "gaussian"
    query: Query = "uniform"
    supervision: Supervision = "query"
    copies: int = 1
    mask: Mask = "strict"
    windows: Windows = (None, None)
    trained: tuple[str, ...] = ()
    snapshots: tuple[int, ...] = ()
    record_every: int = 1
    initial_scale: float = 0.0
    held: tuple[tuple[str, float], ...] = ()
    until_loss: float | None = None

    def __post_init__(self) -> None:
        check(self)
        if self.supervision == "every" and (self.copies, self.windows) != (1, (None, None)):
            raise ValueError("a loss at every position takes neither copies nor windows")
        named = {*self.trained, *dict(self.held)}
        if unknown := named - set(NAMES):
            raise ValueError(f"no pseudo-parameter is called {sorted(unknown)[0]!r}")
        if both := set(self.trained) & set(dict(self.held)):
            raise ValueError(f"{sorted(both)[0]} cannot be both trained and held")
        if self.initial_scale and self.trained:
            raise ValueError("initial_scale must be zero for constrained training")
        if beyond := [step for step in self.snapshots if not 0 <= step <= self.steps]:
            raise ValueError(f"snapshot at step {beyond[0]}, but training has {self.steps} steps")


@dataclass(frozen=True)
class TokenTraining:
    """The settings of training of the attention-only transformer on token pairs (§2, App. E).

    Args:
        dim: width D of the residual stream, >= 1.
        vocabulary: number of tokens N_E, >= 2N.
        block_size: number of positions N_P, >= 2N + 1.
        n_pairs: pairs N in a sequence, >= 1.
        batch_size: fresh sequences per step, >= 1.
        steps: number of updates, >= 1.
        learning_rate: > 0.
        weight_decay: the weight decay of AdamW, >= 0; gradient descent has none.
        embedding_scale: standard deviation of the initial entries of both embeddings.
        mask: `causal`, where a position attends to itself, or `strict`, where it does not.
        optimiser: `adamw`, or `sgd` without momentum.
        until_loss: training ends after a batch loss this low; None for never.
        maps: the initial linear maps: PyTorch's `default`, U(-1/sqrt(D), 1/sqrt(D)); `normal`,
            GPT-2's N(0, 0.02^2); or `xavier`, N(0, 2 / (rows + columns)).
        scaled: whether attention scores are divided by the square root of D.

    Raises:
        ValueError: if a setting is out of its range.
    """

    dim: int = 2048
    vocabulary: int = 32
    block_size: int = 32
    n_pairs: int = 8
    batch_size: int = 512
    steps: int = 300
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    embedding_scale: float = 0.05  # App. E of the book shows others
    mask: Mask = "causal"
    optimiser: Optimiser = "adamw"
    until_loss: float | None = None
    maps: Maps = "default"
    scaled: bool = True

    def __post_init__(self) -> None:
        check(self)


@runtime_checkable
class Reader(Protocol):
    """A measurement of the transformer of §2 at regular steps and after the last (§2, App. E).

    It is a frozen dataclass, and a training resumes only with the same one.
    """

    @property
    def every(self) -> int: ...

    def __call__(self, model: AttentionOnlyTransformer) -> Any: ...


# A change of the transformer of §2 before the first step, by a frozen dataclass
Start = Callable[[AttentionOnlyTransformer], None]
