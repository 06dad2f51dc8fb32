"""Figures 2 and 17: the transformer of §2, which App. E describes."""

from emergence.preset import preset
from emergence.training.settings import TokenTraining

# App. E gives the sizes and the optimiser, but no initialisation: `TokenTraining` says ours.
PRESET = preset(
    paper=TokenTraining(),
    smoke=TokenTraining(
        dim=64,
        vocabulary=8,
        block_size=8,
        n_pairs=2,
        batch_size=64,
        steps=100,
        learning_rate=1e-2,
        embedding_scale=0.1,
    ),
)
