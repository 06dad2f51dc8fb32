"""The first integral along the flow, under finite steps, and in the full model."""

from dataclasses import dataclass, replace

from emergence.experiments.first_passage import knows_labels_only
from emergence.presets import preset
from emergence.training import MinimalTraining, TokenTraining


@dataclass(frozen=True)
class FirstIntegral:
    """Full training where the first integral holds for three parameters, and sizes of the flow.

    Orthonormal vectors are short, hence the rate: 64 is a quarter of a unit of flow time a step.
    """

    training: MinimalTraining
    transformer: TokenTraining  # trained until its head has formed
    descent_rates: tuple[float, ...] = (0.1, 0.05, 0.025)
    adamw_rates: tuple[float, ...] = (4e-3, 2e-3, 1e-3)
    followed_pairs: tuple[int, ...] = (2, 3, 10, 100, 10**4, 10**6)
    ordered_pairs: tuple[int, ...] = (*range(2, 65), *(2**k for k in range(7, 21)))
    drift_pairs: int = 16  # N at which steps are taken
    exact_pairs: tuple[int, ...] = (3, 4, 6, 9, 100, 10**6)  # of ranks in exact arithmetic


# Small, for the laws do not depend on the size; rows of the embeddings have a norm of about 4.
TRANSFORMER = TokenTraining(
    32, 16, 9, n_pairs=2, batch_size=64, steps=4000, weight_decay=0.0, embedding_scale=0.7,
    until_loss=knows_labels_only(2) / 2,
)  # fmt: skip
PRESET = preset(
    paper=FirstIntegral(
        MinimalTraining(4, 16, 512, 400, learning_rate=64.0, data="orthonormal", query="last"),
        TRANSFORMER,
    ),
    smoke=FirstIntegral(
        MinimalTraining(2, 8, 32, 160, learning_rate=16.0, data="orthonormal", query="last"),
        replace(TRANSFORMER, steps=20),
        descent_rates=(0.1, 0.05),
        adamw_rates=(4e-3,),
        followed_pairs=(2, 10),
        ordered_pairs=tuple(range(2, 9)),
        drift_pairs=4,
    ),
)
