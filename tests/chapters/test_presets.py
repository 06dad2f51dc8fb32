"""The paper's settings as printed, the errors of bad ones, and the first seed of stored runs."""

import dataclasses
import importlib
import itertools
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

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
from tools.this_book import ROOT

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


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("module", [training_dynamics, emergence, full_dynamics, appendix_c])
def test_chapters_take_another_size_mask_and_rate(module, profile):
    dim = 40 if profile == "smoke" else 256  # Figure 5 at the paper's size has N = 128
    changes = {"n_pairs": 20, "mask": "causal", "learning_rate": 0.7, "dim": dim}
    settings = choose(module.PRESET, profile, changes).settings
    runs = [getattr(settings, field.name) for field in dataclasses.fields(settings)]
    runs = [run for run in runs if dataclasses.is_dataclass(run)] or [settings.training(20)]
    for run in runs:
        assert (run.n_pairs, run.dim, run.mask) == (20, dim, "causal")


def test_larger_batches_follow_the_training_that_was_changed():
    settings = choose(
        emergence.PRESET, "paper", {"batch_size": 10, "steps": 100, "dim": 8}
    ).settings
    sizes = [
        (run.batch_size, run.steps)
        for run in (settings.double, settings.fourfold, settings.largest)
    ]
    assert sizes == [(20, 50), (40, 100), (160, 52)]
    assert {run.dim for run in (settings.double, settings.fourfold, settings.largest)} == {8}
    with pytest.raises(ValueError, match="snapshots should be two steps"):
        choose(emergence.PRESET, "paper", {"snapshots": [10]})


def test_one_more_n_is_in_all_of_figure_5_and_has_to_fit():
    with pytest.raises(ValueError, match="dim should be even and at least 40"):
        choose(full_dynamics.PRESET, "smoke", {"n_pairs": 20})
    found = choose(full_dynamics.PRESET, "smoke", {"n_pairs": 20, "dim": 40}).settings
    assert found.descent_pairs == (2, 4, 8, 20)
    assert found.sampled_pairs == (2, 4, 20)
    assert found.flow_pairs == (4, 8, 16, 20, 32)


def test_the_exact_steps_of_figure_5_are_those_of_the_mask():
    """Sampled and exact gradients are equal on orthonormal inputs, under either mask."""
    changes = {"mask": "causal", "dim": 8, "descent_pairs": [2], "sampled_pairs": [2]}
    settings = choose(full_dynamics.PRESET, "smoke", changes).settings
    exact = settings.exact_steps(2)
    sampled = full_dynamics.emergence_steps(settings.point(2, 0, torch.device("cpu")))
    assert np.abs(sampled - exact).max() <= 1
    assert exact[0] > 2 * dataclasses.replace(settings, mask="strict").exact_steps(2)[0]


FIRST = 900  # above all seeds of today
KEPT = {  # where the constant lies; how many configurations keep their seeds, since they take long
    "companions/associative_memories.py": 0,
    "companions/birth/stored.py": 2,
    "companions/distributional/training.py": 0,
    "companions/grokking/__init__.py": 0,
    "companions/k_hop.py": 14,
    "beyond/real_transformers/token_grid.py": 14,
    "beyond/every_position/stored.py": 28,
}
PROGRAM = """
import importlib, sys
from emergence.running.records import seeds_of
for name in sys.argv[1:]:
    print(*(min(seeds_of(cell)) for cell in importlib.import_module(name).RUNS.cells))
"""


@pytest.mark.slow("a process imports stored runs")
def test_another_first_seed_reaches_all_runs_but_the_expensive_ones(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "chapters", tmp_path / "chapters")
    modules = []
    for name in KEPT:
        path = tmp_path / "chapters" / name
        text, count = re.subn(
            "^(FIRST_SEED.* = )0", rf"\g<1>{FIRST}", path.read_text("utf-8"), flags=re.M
        )
        assert count == 1, name
        path.write_text(text, encoding="utf-8")
        module = {"__init__": "training"}.get(path.stem, path.stem)
        modules.append(".".join(("chapters", *Path(name).parent.parts, module)))
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'src'}"}
    order = [sys.executable, "-c", PROGRAM, *modules]
    lines = subprocess.check_output(order, env=environment, text=True).splitlines()
    for (name, kept), line in zip(KEPT.items(), lines, strict=True):
        seeds = [int(seed) for seed in line.split()]
        assert sum(seed < FIRST for seed in seeds) == kept, name
        assert len(seeds) > kept
