"""Every training of the library at sizes of a test: so many steps on a device, what they return."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from chapters.beyond.area_law.curricula import Curriculum, train_curriculum
from chapters.beyond.batch_noise import follow_noise
from chapters.beyond.real_transformers.side_by_side import noise_share, train_side_by_side
from chapters.companions import birth
from chapters.companions import clustering as clusters
from chapters.companions import distributional as noise
from chapters.companions.birth import stored as birth_training
from chapters.companions.clustering import energy
from chapters.companions.clustering import training as clustering
from chapters.companions.distributional import training as noise_training
from chapters.companions.factual_recall import capacity, model
from chapters.companions.factual_recall.model import Facts, Shape
from chapters.companions.retrieval import training as retrieval
from chapters.companions.retrieval.model import Architecture
from emergence import subspace, training
from oracles.birth_counts import COUNTS as BIGRAMS

MINIMAL = training.MinimalTraining(2, 6, 8, 12, snapshots=(0,), record_every=3)
NOISE = training.MinimalTraining(n_pairs=4, dim=8, batch_size=64, steps=12)
TOKENS = training.TokenTraining(
    dim=16, vocabulary=8, block_size=8, n_pairs=2, batch_size=8, steps=8, learning_rate=0.01
)
MINIMAL_KINDS = {
    "full": {},
    "random": {"initial_scale": 0.1},
    "causal": {"mask": "causal", "initial_scale": 0.05},
    "copies": {"copies": 2, "query": "last", "data": "orthonormal"},
    "windows": {"windows": (2, 3)},
    "held": {"held": (("beta_2", 1.0),)},
    "head": {"trained": subspace.INDUCTION_HEAD, "record_every": 1},
    "nineteen": {"trained": subspace.NAMES, "record_every": 40},
}
RETRIEVAL = retrieval.RetrievalTraining(
    stages=((1, 2),), steps=10, n_hops=2, batch_size=4, warm_up=2, record_every=6, test_size=4,
    architecture=Architecture(dim=8),
)  # fmt: skip
BIRTH = birth.Settings(length=16, dim=16, batch_size=4, steps=10, every=6)
DISTRIBUTIONAL = noise.Recipe(
    length=16, dim=16, width=16, batch_size=8, steps=10, every=6, n_tested=8, precision="float32"
)
FACTS = Facts(8, 4, 4, 8, 12)


def minimal(steps: int, device: torch.device, **more: Any) -> Any:
    settings = replace(MINIMAL, steps=steps)
    return training.train_minimal(settings, (0, 1), device=device, **more)


def born(steps: int, device: torch.device, n_layers: int = 2) -> Any:
    settings = replace(BIRTH, steps=steps)
    return birth_training.train(settings, BIGRAMS, 1, n_layers=n_layers, device=device)


def facts(steps: int, device: torch.device) -> Any:
    settings = model.FactualRecallSettings(FACTS, 0.1, 0.3, 8, steps, every=6, test_size=16)
    return model.train_linear(settings, (0, 1), device=device, label="facts")


def stored(steps: int, device: torch.device) -> Any:
    trial = capacity.Trial(
        Shape(8, 2, 2, 16), 12, rates=(0.1, 0.01), answers=4, length=12, batch_size=32,
        steps=steps, every=6, test_size=64, level=1.1, hopeless=0.0,
    )  # fmt: skip
    return tuple(capacity.train_until(trial, device))


def residues(steps: int, device: torch.device) -> Any:
    settings = clusters.Training(residues=5, hidden=8, epochs=steps, records=2, snapshots=(0,))
    return clustering.train_clustering(settings, (0, 1), device=device)


def moved(steps: int, device: torch.device) -> Any:
    settings = clusters.Simulation(residues=7, steps=steps)
    return [energy.simulate(settings, (0, 1), mix=0.5, width=0.5, core=0.3, device=device)]


TRAININGS: dict[str, Callable[[int, torch.device], Any]] = {
    "minimal": minimal,
    "minimal, dense": lambda steps, device: minimal(steps, device, method="dense"),
    "tokens": lambda steps, device: training.train_tokens(
        replace(TOKENS, steps=steps), 3, device=device
    ),
    "side by side": lambda steps, device: train_side_by_side(
        replace(TOKENS, steps=steps), [0, 1], [1e-9, 1e-9], levels=[0.1], device=device
    ),
    "share of noise": lambda steps, device: noise_share(
        replace(TOKENS, steps=steps), [0], device=device
    ),
    "curriculum": lambda steps, device: train_curriculum(
        Curriculum(4, 16, 16, ahead=12, steps=steps), [0, 1], device=device
    ),
    "law of noise": lambda steps, device: follow_noise(
        replace(NOISE, steps=steps), device=device, draws=2, sequences=16
    ),
    "retrieval": lambda steps, device: retrieval.train(
        replace(RETRIEVAL, steps=steps), (0, 1), device=device
    ),
    "birth": born,
    "birth, one layer": lambda steps, device: born(steps, device, n_layers=1),
    "distributional": lambda steps, device: noise_training.train(
        replace(DISTRIBUTIONAL, steps=steps), BIGRAMS, 1, device=device
    ),
    "facts": facts,
    "facts stored": stored,
    "clustering": residues,
    "particles": moved,
}
