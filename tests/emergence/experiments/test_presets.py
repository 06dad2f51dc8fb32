"""The paper's settings as printed, and the errors of bad ones."""

import dataclasses

import pytest

from emergence import training
from emergence.experiments import old_beyond as beyond
from emergence.experiments import old_presets as presets
from emergence.preset import PROFILES


def paper(name):
    return presets.load(name, "paper").settings


@pytest.mark.parametrize(
    ("name", "n_pairs", "moments"),
    [
        ("figure-3", 4, (100, 200, 400)),
        ("figures-6-8", 4, (100, 200, 400)),
        ("figures-9-11", 8, (200, 400, 800)),
        ("figures-12-14", 16, (250, 500, 1000)),
    ],
)
def test_weights_during_training_as_in_appendix_c(name, n_pairs, moments):
    settings = paper(name)
    assert (settings.dim, settings.n_pairs, settings.batch_size) == (16, n_pairs, 512)
    assert (settings.learning_rate, settings.snapshots) == (1.0, moments)
    assert settings.steps == moments[-1]


@pytest.mark.parametrize(
    ("name", "dim", "n_pairs"), [("figure-4", 32, 16), ("figure-15", 16, 32), ("figure-16", 32, 8)]
)
def test_dynamics_as_in_appendix_d(name, dim, n_pairs):
    settings = paper(name)
    assert (settings.dim, settings.n_pairs, settings.batch_size) == (dim, n_pairs, 256)
    assert settings.learning_rate == 1.0


@pytest.mark.parametrize("name", ["figure-3", "figure-4", "figures-9-11", "figure-15", "figure-16"])
def test_experiments_train_everything_on_gaussian_data(name):
    """§3.2: Gaussian data, q uniform; App. B.2: the strict mask; §4: all weights move."""
    settings = paper(name)
    assert (settings.data, settings.query, settings.mask) == ("gaussian", "uniform", "strict")
    assert settings.trained == ()


def test_transformer_as_in_appendix_e():
    settings = dataclasses.asdict(paper("figure-2"))
    printed = {
        "dim": 2048, "vocabulary": 32, "block_size": 32, "n_pairs": 8, "batch_size": 512,
        "steps": 300, "learning_rate": 1e-3, "weight_decay": 0.01,
    }  # fmt: skip
    assert settings | printed == settings


def test_sweep_as_in_appendix_f():
    settings = paper("figure-5")
    assert (settings.dim, settings.batch_size, settings.learning_rate) == (256, 64, 100.0)
    assert settings.thresholds == (0.1, 0.1, 0.5)
    for pairs in (settings.descent_pairs, settings.sampled_pairs):
        assert 2 * max(pairs) <= settings.dim


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", presets.PRESETS)
def test_every_preset_loads(name, profile):
    preset = presets.load(name, profile)
    least = 5 if profile == "paper" else 2
    assert len(set(preset.seeds())) == preset.n_seeds >= least
    dim = preset.settings.dim
    assert dim % 2 == 0
    again = preset.override(dim=dim + 2)
    assert (again.settings.dim, preset.settings.dim) == (dim + 2, dim)


def test_presets_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        paper("figure-3").dim = 8


def test_constrained_frees_the_three_parameters_only():
    full = paper("figure-4")
    three = presets.constrained(full)
    assert three.trained == ("alpha_3", "beta_2", "gamma_3")
    assert dataclasses.replace(three, trained=()) == full


def test_seeds_count_from_the_first():
    preset = presets.load("figure-3", "paper")
    assert preset.seeds() == (0, 1, 2, 3, 4)
    assert preset.seeds(7) == (7, 8, 9, 10, 11)


def load(**changes):
    return presets.load("figure-3", "paper").override(**changes)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: presets.load("figure-3", "huge"), "profile must be one of"),
        (lambda: presets.load("figure-33", "paper"), "no preset is called 'figure-33'"),
        (lambda: presets.load("figure-3", "paper").seeds(-1), "must not be negative"),
        (lambda: load(momentum=0.9), "no setting 'momentum'"),
        (lambda: load(dim=16.0), "dim must be a int"),
        (lambda: load(dim="16"), "dim must be a int"),
        (lambda: load(steps=True), "steps must be a int"),
        (lambda: load(snapshots=10), "snapshots must be a tuple"),
        (lambda: load(learning_rate="1"), "learning_rate must be a float"),
        (lambda: load(data="images"), "data must be one of"),
        (lambda: load(trained=("alpha_4",)), "no pseudo-parameter is called 'alpha_4'"),
        (lambda: load(steps=50), "snapshot at step 100, but training has 50 steps"),
        (lambda: load(snapshots=(-1,)), "snapshot at step -1"),
    ],
)
def test_bad_settings_raise_one_sentence(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert str(error.value).count("\n") == 0


@pytest.mark.usefixtures("unchecked")
def test_a_whole_number_may_stand_for_a_float():
    assert load(learning_rate=2).settings.learning_rate == 2.0


def test_settings_of_each_kind():
    kinds = {name: type(paper(name)) for name in presets.PRESETS}
    assert kinds.pop("figure-2") is training.TokenTraining
    assert kinds.pop("figure-5") is presets.EmergenceSweep
    assert kinds.pop("uniform-queries") is beyond.UniformQueries
    assert kinds.pop("effective-context") is beyond.EffectiveContext
    assert kinds.pop("transformer-scaling") is beyond.TransformerSweep
    assert kinds.pop("minimal-scaling") is beyond.MinimalSweep
    assert kinds.pop("knock-in") is beyond.KnockIn
    assert set(kinds.values()) == {training.MinimalTraining}


@pytest.mark.parametrize("profile", PROFILES)
def test_sweeps_beyond_the_paper_can_be_trained(profile):
    """Contexts fit the vocabulary and the block; only N varies; pieces of the head fit."""
    sweep = presets.load("transformer-scaling", profile).settings
    for n in {*sweep.contexts, *sweep.sgd_contexts}:
        assert 2 * n <= sweep.vocabulary
        assert 2 * n + 1 <= sweep.block_size
        run = sweep.training(n, dim=sweep.dim)
        assert run == dataclasses.replace(
            sweep.training(2, dim=sweep.dim), n_pairs=n, until_loss=run.until_loss
        )
    assert 2 * sweep.vocabulary_pairs == min(sweep.vocabularies)
    knock = presets.load("knock-in", profile).settings
    needed = 2 * (knock.vocabulary + knock.block_size) + knock.vocabulary
    assert knock.token_dim >= needed
    assert 2 * max(knock.sampled_pairs) <= knock.sampled_dim
    assert knock.scaled(0.1).embedding_scale == 0.1


def test_contexts_of_the_paper_profile_are_many():
    """A power needs a range: six sizes of N at least, with five seeds."""
    transformer, minimal = paper("transformer-scaling"), paper("minimal-scaling")
    for sizes in (transformer.contexts, transformer.sgd_contexts, minimal.contexts):
        assert len(set(sizes)) >= 6
    assert len(transformer.widths) >= 2
