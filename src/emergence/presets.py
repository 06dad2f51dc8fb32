"""The paper's settings, one preset a figure, in two profiles: `paper` as printed, `smoke` tiny."""

from dataclasses import replace

from .beyond import (
    EffectiveContext,
    KnockIn,
    MinimalSweep,
    TransformerSweep,
    UniformQueries,
)
from .figure5 import EmergenceSweep
from .preset import Preset, choose
from .subspace import INDUCTION_HEAD, NAMES
from .training import MinimalTraining, TokenTraining


def load(name: str, profile: str) -> Preset:
    """The preset of this name, as in `PRESETS`, in a profile; ValueError for an unknown one."""
    if name not in PRESETS:
        raise ValueError(f"no preset is called {name!r}; there are {', '.join(PRESETS)}")
    return choose(PRESETS[name], profile)


def _weights(n_pairs: int, *snapshots: int) -> dict[str, Preset]:
    """App. C: weights at three moments, learning rate 1, B = 512, D = 16."""
    last = snapshots[-1]
    paper = MinimalTraining(
        n_pairs, 16, 512, last, snapshots=snapshots, record_every=max(1, last // 100)
    )
    smoke = replace(paper, dim=8, n_pairs=2, batch_size=32, steps=30, snapshots=(10, 20, 30))
    return {"paper": Preset(paper), "smoke": Preset(replace(smoke, record_every=5), 2)}


def _dynamics(n_pairs: int, dim: int, steps: int) -> dict[str, Preset]:
    """App. D: learning rate 1 and B = 256. The step counts are not printed.

    Ours go on well past the step at which the induction head has formed.
    """
    paper = MinimalTraining(n_pairs, dim, 256, steps, record_every=2)
    smoke = replace(paper, dim=8, n_pairs=2, batch_size=64, steps=90)
    return {"paper": Preset(paper), "smoke": Preset(smoke, 2)}


def constrained(settings: MinimalTraining) -> MinimalTraining:
    """The same training with only alpha_3, beta_2 and gamma_3 free (Fig. 4, bottom)."""
    return replace(settings, trained=INDUCTION_HEAD)


TINY_TOKENS = TokenTraining(
    dim=64,
    vocabulary=8,
    block_size=8,
    n_pairs=2,
    batch_size=64,
    steps=100,
    learning_rate=1e-2,
    embedding_scale=0.1,
)

PRESETS: dict[str, dict[str, Preset]] = {
    # App. E gives the sizes and the optimiser, but no initialisation: `TokenTraining` says ours.
    "figure-2": {"paper": Preset(TokenTraining()), "smoke": Preset(TINY_TOKENS, 2)},
    "figure-3": _weights(4, 100, 200, 400),
    "figure-4": _dynamics(16, 32, 400),
    "figure-5": {
        "paper": Preset(EmergenceSweep()),
        "smoke": Preset(
            EmergenceSweep(
                flow_pairs=(4, 8, 16, 32),
                descent_pairs=(2, 4, 8),
                sampled_pairs=(2, 4),
                dim=32,
                learning_rate=10.0,
            ),
            2,
        ),
    },
    "figures-6-8": _weights(4, 100, 200, 400),
    "figures-9-11": _weights(8, 200, 400, 800),
    "figures-12-14": _weights(16, 250, 500, 1000),
    # Theorem 1 taken at its word: all 19 pseudo-parameters free and nothing else (§4's sizes).
    "nineteen": {
        "paper": Preset(
            MinimalTraining(
                4, 16, 512, 400, trained=NAMES, snapshots=(0, 10, 30, 60, 100, 200, 400)
            )
        ),
        "smoke": Preset(MinimalTraining(2, 8, 32, 30, trained=NAMES, snapshots=(0, 10, 30)), 2),
    },
    # Full training where the first integral holds for three parameters. Orthonormal vectors are
    # short, hence the rate: 64 is a quarter of a unit of flow time a step.
    "first-integral": {
        "paper": Preset(
            MinimalTraining(4, 16, 512, 400, learning_rate=64.0, data="orthonormal", query="last")
        ),
        "smoke": Preset(
            MinimalTraining(2, 8, 32, 160, learning_rate=16.0, data="orthonormal", query="last"), 2
        ),
    },
    "figure-15": _dynamics(32, 16, 400),
    "figure-16": _dynamics(8, 32, 200),
    "uniform-queries": {
        "paper": Preset(UniformQueries()),
        "smoke": Preset(
            UniformQueries(
                flow_pairs=(4, 8, 16, 32, 64, 128),
                limit_pairs=(4, 8, 16, 32, 64, 128),
                checked_pairs=(1, 3),
                sampled_pairs=(4,),
                dim=8,
                batch_size=32,
                place_pairs=8,
            ),
            2,
        ),
    },
    "effective-context": {
        "paper": Preset(EffectiveContext()),
        "smoke": Preset(
            EffectiveContext(
                distinct=(4, 8, 16),
                copies=(1, 2),
                window_pairs=32,
                windows=(8, 16, 32),
                n_pairs=4,
                dim=8,
                batch_size=64,
                limit=100,
                trained_windows=(2, 4),
            ),
            2,
        ),
    },
    "transformer-scaling": {
        "paper": Preset(TransformerSweep()),
        "smoke": Preset(
            TransformerSweep(
                contexts=(2, 3, 4),
                sgd_contexts=(2, 3, 4),
                widths=(32,),
                batch_sizes=(64, 96, 128),
                vocabularies=(4, 16),
                vocabulary_pairs=2,
                dim=32,
                vocabulary=16,
                block_size=9,
                adamw_rate=1e-2,
                limit=150,
            ),
            2,
        ),
    },
    "minimal-scaling": {
        "paper": Preset(MinimalSweep()),
        "smoke": Preset(
            MinimalSweep(
                contexts=(2, 3, 4),
                dims=(4, 6, 8),
                learning_rates=(0.5, 1.0, 2.0),
                batch_sizes=(32, 64, 128),
                n_pairs=3,
                dim=8,
                batch_size=64,
                limit=60,
            ),
            2,
        ),
    },
    "knock-in": {
        "paper": Preset(KnockIn()),
        "smoke": Preset(
            KnockIn(
                flow_pairs=(8, 16, 32),
                sampled_pairs=(3,),
                sampled_dim=8,
                n_pairs=3,
                dim=8,
                batch_size=64,
                limit=50,
                noises=(0.1, 1.0),
                noise_dims=(8,),
                token_dim=64,
                token_pairs=2,
                vocabulary=8,
                block_size=5,
                token_batch=64,
                token_rate=1e-2,
                token_limit=80,
                embedding_scales=(0.02, 0.5),
                scale_dim=32,
                scale_rate=1e-2,
                scale_steps=40,
            ),
            2,
        ),
    },
}
