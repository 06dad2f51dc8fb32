"""The paper's settings as printed, and the errors of bad ones."""

import dataclasses
import importlib
import itertools
import pkgutil

import pytest

from chapters import beyond as beyond_part
from chapters import paper as paper_part
from chapters.paper import (
    appendix_c,
    emergence,
    full_dynamics,
    induction_heads,
    training_dynamics,
)
from emergence.presets import PROFILES, choose

MODULES = [
    module
    for part in (paper_part, beyond_part)
    for found in pkgutil.walk_packages(part.__path__, f"{part.__name__}.")
    if hasattr(module := importlib.import_module(found.name), "PRESET")
]


def paper(module):
    return module.PRESET["paper"].settings


FIGURE_3 = paper(training_dynamics).training
FIGURE_4 = paper(emergence).training


@pytest.mark.parametrize(
    ("settings", "n_pairs", "moments"),
    [
        (FIGURE_3, 4, (100, 200, 400)),
        (paper(appendix_c).four, 4, (100, 200, 400)),
        (paper(appendix_c).eight, 8, (200, 400, 800)),
        (paper(appendix_c).sixteen, 16, (250, 500, 1000)),
    ],
)
def test_weights_during_training_as_in_appendix_c(settings, n_pairs, moments):
    assert (settings.dim, settings.n_pairs, settings.batch_size) == (16, n_pairs, 512)
    assert (settings.learning_rate, settings.snapshots) == (1.0, moments)
    assert settings.steps == moments[-1]


def test_dynamics_as_in_appendix_d():
    assert (FIGURE_4.dim, FIGURE_4.n_pairs, FIGURE_4.batch_size) == (32, 16, 256)
    assert FIGURE_4.learning_rate == 1.0


@pytest.mark.parametrize("settings", [FIGURE_3, paper(appendix_c).eight, FIGURE_4])
def test_experiments_train_everything_on_gaussian_data(settings):
    """§3.2: Gaussian data, q uniform; App. B.2: the strict mask; §4: all weights move."""
    assert (settings.data, settings.query, settings.mask) == ("gaussian", "uniform", "strict")
    assert settings.trained == ()


def test_transformer_as_in_appendix_e():
    settings = dataclasses.asdict(paper(induction_heads))
    printed = {
        "dim": 2048, "vocabulary": 32, "block_size": 32, "n_pairs": 8, "batch_size": 512,
        "steps": 300, "learning_rate": 1e-3, "weight_decay": 0.01,
    }  # fmt: skip
    assert settings | printed == settings


def test_sweep_as_in_appendix_f():
    settings = paper(full_dynamics)
    assert (settings.dim, settings.batch_size, settings.learning_rate) == (256, 64, 100.0)
    assert settings.thresholds == (0.1, 0.1, 0.5)
    for pairs in (settings.descent_pairs, settings.sampled_pairs):
        assert 2 * max(pairs) <= settings.dim


def test_every_preset_has_seeds_enough():
    assert len(MODULES) > 5
    for module, profile in itertools.product(MODULES, PROFILES):
        preset, least = choose(module.PRESET, profile), 5 if profile == "paper" else 2
        assert len(set(preset.seeds())) == preset.n_seeds >= least, module.__name__


def test_presets_are_frozen_and_count_their_seeds_from_the_first():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FIGURE_3.dim = 8
    preset = choose(emergence.PRESET, "paper")
    assert preset.seeds() == (0, 1, 2, 3, 4)
    assert preset.seeds(7) == (7, 8, 9, 10, 11)


@pytest.mark.usefixtures("unchecked")
def test_another_profile_and_a_negative_seed_raise():
    with pytest.raises(ValueError, match="profile must be one of"):
        choose(emergence.PRESET, "huge")
    with pytest.raises(ValueError, match="must not be negative"):
        choose(emergence.PRESET, "paper").seeds(-1)
