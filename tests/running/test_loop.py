"""A run that is put down and taken up again ends in the same bits."""

import dataclasses
import logging
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from chapters.companions import birth, two_accounts
from chapters.companions import distributional as noise
from chapters.companions.associative_memories import training as memories
from chapters.companions.birth import bigrams
from chapters.companions.birth import training as birth_training
from chapters.companions.distributional import training as noise_training
from chapters.companions.factual_recall import linear, trials
from chapters.companions.factual_recall.model import Shape
from chapters.companions.factual_recall.task import Facts
from chapters.companions.retrieval import training as retrieval
from chapters.companions.retrieval.model import Architecture
from chapters.companions.retrieval.training import RetrievalTraining
from chapters.companions.two_accounts import curves
from chapters.paper.induction_heads.feed_forward import MLPRun, train_mlp
from chapters.paper.minimal_formulation.one_layer import train_one_layer
from emergence.subspace import INDUCTION_HEAD
from emergence.training import MinimalTraining, TokenTraining, train_minimal, train_tokens
from interruption import Interrupting, Killed, assert_resumes
from running import cache, devices
from running.cache import Task, plain

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")
MINIMAL = MinimalTraining(2, 6, 8, 12, snapshots=(0, 5, 12), record_every=3)
TOKENS = TokenTraining(
    dim=16, vocabulary=8, block_size=8, n_pairs=2, batch_size=16, steps=8, learning_rate=0.01
)
MINIMAL_KINDS = {
    "full": MINIMAL,
    "random": dataclasses.replace(MINIMAL, initial_scale=0.1),
    "held": dataclasses.replace(MINIMAL, held=(("beta_2", 1.0),)),
    "head": dataclasses.replace(MINIMAL, trained=INDUCTION_HEAD, data="orthonormal", query="last"),
    "windows": dataclasses.replace(MINIMAL, windows=(2, None), copies=2),
    "until": dataclasses.replace(MINIMAL, until_loss=1e9, snapshots=()),
}
TOKEN_KINDS = {
    "adamw": TOKENS,
    "sgd": dataclasses.replace(TOKENS, optimiser="sgd"),
    "until": dataclasses.replace(TOKENS, until_loss=2.0),
}

RETRIEVAL = RetrievalTraining(
    stages=((1, 2),), steps=10, n_hops=2, batch_size=4, warm_up=2, record_every=3, test_size=4,
    architecture=Architecture(dim=8),
)  # fmt: skip
BIGRAMS = bigrams.read((ROOT / "data" / "shakespeare_bigrams.csv").read_text(encoding="ascii"))
BIRTH = birth.Settings(length=16, dim=16, batch_size=4, steps=10, steps_one_layer=10, every=3)
NOISE = noise.Recipe(
    length=16, dim=16, width=16, batch_size=8, steps=10, every=4, n_tested=8, precision="float32"
)
FACTS = Facts(8, 4, 4, 8, 12)
TRIAL = trials.Trial(
    Shape(8, 2, 2, 16), 12, rates=(0.1, 0.01), answers=4, length=12, batch_size=32, steps=12,
    every=3, test_size=64, hopeless=0.0,
)  # fmt: skip
ADAM = memories.AdamTraining(
    dim=8, width=8, n_pairs=40, n_drawn=40, learning_rate=0.03, steps=40, patience=8,
    least_recall=1.1, every=4,
)  # fmt: skip
ACCOUNTS = two_accounts.TwoAccountsSettings(
    stream=BIRTH, tokens=dataclasses.replace(TOKENS, steps=10)
)


def facts_by_linear_attention():
    return linear.train_linear(
        FACTS, (0, 1), alpha=(0.1, 0.2), learning_rate=0.3, batch_size=8, steps=10, every=3,
        test_size=16, device=CPU, label="facts",
    )  # fmt: skip


def facts_stored(**changes):
    return tuple(trials.run(dataclasses.replace(TRIAL, **changes), CPU))


def both_probes(found):
    return found.steps, found.readings, found.final


OTHERS = {
    "MLP": lambda: train_mlp(MLPRun(dataclasses.replace(TOKENS, steps=10), 0, True)),
    "one layer": lambda: train_one_layer(2, 2, 0, steps=10, batch_size=4),
    "retrieval": lambda: retrieval.train(RETRIEVAL, (0, 1), device=CPU),
    "birth": lambda: birth_training.train(BIRTH, BIGRAMS, 1, n_layers=2, device=CPU),
    "birth, one layer": lambda: birth_training.train(BIRTH, BIGRAMS, 1, n_layers=1, device=CPU),
    "noise": lambda: noise_training.train(NOISE, BIGRAMS, 1, device=CPU),
    "facts": facts_by_linear_attention,
    "facts stored": facts_stored,
    "facts stored, until": lambda: facts_stored(steps=200, level=0.3),
    "pairs": lambda: (memories.train_adam(ADAM, (0, 1), device=CPU),),
    "pairs, linear": lambda: (
        memories.train_adam(dataclasses.replace(ADAM, width=None), (0, 1), device=CPU),
    ),
    "accounts, tokens": lambda: both_probes(curves.tokens(ACCOUNTS, (1,), device=CPU)),
    "accounts, stream": lambda: both_probes(curves.stream(ACCOUNTS, BIGRAMS, (1,), device=CPU)),
}


@pytest.mark.parametrize("kill_after", [1, 4, 5, 11])
@pytest.mark.parametrize("kind", MINIMAL_KINDS)
def test_a_killed_minimal_training_ends_in_the_same_bits(kind, kill_after):
    settings = MINIMAL_KINDS[kind]
    assert_resumes(
        lambda: train_minimal(settings, (0, 1), device=CPU), kill_after, ends_early=kind == "until"
    )


@pytest.mark.parametrize("kill_after", [1, 3, 7])
@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_a_killed_token_training_ends_in_the_same_bits(kind, kill_after):
    settings = TOKEN_KINDS[kind]
    assert_resumes(
        lambda: train_tokens(settings, 3, device=CPU), kill_after, ends_early=kind == "until"
    )


@pytest.mark.parametrize("kill_after", [1, 7, 9])
@pytest.mark.parametrize("train", OTHERS.values(), ids=OTHERS)
def test_a_killed_training_of_a_chapter_ends_in_the_same_bits(train, kill_after):
    assert_resumes(train, kill_after)


def test_a_state_lacks_nothing_that_matters():
    """Had the stream of the data not been restored, the runs would differ."""
    undisturbed = train_minimal(MINIMAL, (0,), device=CPU)
    interrupting = Interrupting(4)
    with cache.attached(interrupting):
        with pytest.raises(Killed):
            train_minimal(MINIMAL, (0,), device=CPU)
        fresh = devices.generator(0, CPU).get_state().numpy()
        interrupting.states[-1]["parts"]["streams"] = [fresh]
        assert not torch.equal(train_minimal(MINIMAL, (0,), device=CPU).loss, undisturbed.loss)


def test_every_difference_of_a_training_is_in_its_task():
    interrupting = Interrupting(0)
    with cache.attached(interrupting):
        for settings in (MINIMAL, dataclasses.replace(MINIMAL, learning_rate=0.5)):
            for seeds in ((0,), (1,)):
                for method in ("fast", "dense"):
                    for dtype in (torch.float32, torch.float64):
                        interrupting.states.clear()
                        train_minimal(settings, seeds, device=CPU, method=method, dtype=dtype)
    assert len(set(map(repr, interrupting.tasks))) == len(interrupting.tasks) == 16


def test_progress_goes_on_where_the_run_does(caplog):
    interrupting = Interrupting(4)
    with cache.attached(interrupting), caplog.at_level(logging.INFO, "running.progress"):
        with pytest.raises(Killed):
            train_minimal(MINIMAL, (0,), device=CPU)
        train_minimal(MINIMAL, (0,), device=CPU)
    steps = [record.step for record in caplog.records]
    assert all(later >= before for before, later in pairwise(steps))
    assert steps[-1] == MINIMAL.steps


def test_configurations_are_plain_or_refused():
    assert plain(MINIMAL)["n_pairs"] == 2
    assert plain(MINIMAL)[""] == "MinimalTraining"
    assert plain({"a": (1, None, 2.5)}) == {"a": [1, None, 2.5]}
    assert plain(np.zeros(2)) == plain(np.zeros(2)) != plain(np.zeros((2, 1)))
    assert plain([np.int64(3), torch.device("cpu")]) == [3, "cpu"]
    for value in (np.array([None]), {1: 2}, object(), {1, 2}):
        with pytest.raises(TypeError, match="a configuration cannot hold"):
            plain(value)
    with pytest.raises(TypeError, match="functions of a module"):
        Task.of(lambda x: x, x=1)
