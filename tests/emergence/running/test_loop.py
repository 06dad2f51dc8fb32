"""A run that is put down and taken up again ends in the same bits."""

import dataclasses
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
import torch

import trainings
from chapters.companions import two_accounts
from chapters.paper.induction_heads.feed_forward import MLPRun, train_mlp
from chapters.paper.minimal_formulation import train_one_layer
from emergence.running import cache, devices, loop
from emergence.running.cache import Task, plain
from emergence.running.memo import kept, resumable
from emergence.running.stretches import Stretches
from emergence.training import MinimalTraining, train_minimal, train_tokens
from interruption import Apart, Interrupting, Killed, assert_resumes, bits
from tools.emulation import emulated
from trainings import TOKENS

CPU = torch.device("cpu")
MINIMAL = MinimalTraining(2, 6, 8, 12, snapshots=(0, 5, 12), record_every=3)
MINIMAL_KINDS = {
    name: dataclasses.replace(MINIMAL, **changes)
    for name, changes in trainings.MINIMAL_KINDS.items()
} | {"until": dataclasses.replace(MINIMAL, until_loss=1e9, snapshots=())}
TOKEN_KINDS = {
    "adamw": TOKENS,
    "sgd": dataclasses.replace(TOKENS, optimiser="sgd"),
    "until": dataclasses.replace(TOKENS, until_loss=2.0),
}

WALKED = {"law of noise", "birth", "birth, one layer", "distributional"}  # step by step on a GPU
ACCOUNTS = two_accounts.TwoAccountsSettings(stream=trainings.BIRTH)


OTHERS = {
    "MLP": lambda: train_mlp(MLPRun(dataclasses.replace(TOKENS, steps=10), 0, True)),
    "one layer": lambda: train_one_layer(2, 2, 0, steps=10, batch_size=4),
    "accounts, stream": lambda: two_accounts.train_stream_model(
        ACCOUNTS, trainings.BIGRAMS, (1,), device=CPU
    ),
}


@pytest.mark.parametrize("kill_after", [4, 11])
@pytest.mark.parametrize("kind", MINIMAL_KINDS)
def test_a_killed_minimal_training_ends_in_the_same_bits(kind, kill_after):
    settings = MINIMAL_KINDS[kind]
    assert_resumes(
        lambda: train_minimal(settings, (0, 1), device=CPU), kill_after, ends_early=kind == "until"
    )


@pytest.mark.parametrize("kill_after", [3, 7])
@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_a_killed_token_training_ends_in_the_same_bits(kind, kill_after):
    settings = TOKEN_KINDS[kind]
    assert_resumes(
        lambda: train_tokens(settings, 3, device=CPU), kill_after, ends_early=kind == "until"
    )


@pytest.mark.parametrize("train", OTHERS.values(), ids=OTHERS)
def test_a_killed_training_of_a_chapter_ends_in_the_same_bits(train):
    assert_resumes(train, 7)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", trainings.TRAININGS)
def test_every_training_goes_on_on_either_device(name, device, unchecked, monkeypatch):
    """A GPU waits once for each stretch that it replays."""
    on_gpu = device == "cuda"
    steps, kill_after = (24, 2) if on_gpu else (12, 5)
    with emulated() if on_gpu else nullcontext() as cuda:
        waits = noted_waits(monkeypatch, cuda)
        run = partial(trainings.TRAININGS[name], steps, torch.device(device))
        assert_resumes(run, kill_after, stretches=on_gpu)
    assert set(waits) == ({1} if on_gpu and name not in WALKED else set())


def noted_waits(monkeypatch, cuda):
    """A list that gets how often the processor waits in each stretch, but for the first ones."""
    result, run = [], Stretches.run

    def noted(self, at, length, phase, ended):
        before, warm = cuda.waits, (length, at % self.every == 0, phase) in self.kinds
        rows = run(self, at, length, phase, ended)
        result.extend([cuda.waits - before] * warm)
        return rows

    monkeypatch.setattr(Stretches, "run", noted)
    return result


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


def test_configurations_are_plain_or_refused():
    assert plain(MINIMAL)["n_pairs"] == 2
    assert plain(MINIMAL)[""] == "MinimalTraining"
    assert plain({"a": (1, None, 2.5)}) == {"a": [1, None, 2.5]}
    assert plain(np.zeros(2)) == plain(np.zeros(2)) != plain(np.zeros((2, 1)))
    assert plain([np.int64(3), torch.device("cpu"), torch.half]) == [3, "cpu", "torch.float16"]
    for value in (np.array([None]), {1: 2}, object(), {1, 2}):
        with pytest.raises(TypeError, match="a configuration cannot hold"):
            plain(value)
    with pytest.raises(TypeError, match="functions of a module"):
        Task.of(lambda x: x, x=1)


def counted(steps, x):
    """Add the number of each step; it is not marked."""
    for step in loop.steps(steps, "sum", x=x):
        x += step


@kept
def counted_apart(steps: int) -> torch.Tensor:
    x = torch.zeros(1)
    counted(steps, x)
    return x


@resumable
def inner_training(steps, *, device=None, label="inner"):
    x = torch.zeros(1)
    counted(steps, x)
    return x


@resumable
def outer_training(steps, start):
    """Loops of its own before and after another training and an analysis, all of one start."""
    x, z = torch.zeros(1), torch.zeros(1)
    counted(steps, x)
    others = [inner_training(steps), counted_apart(steps)]
    counted(2 * steps, z)
    return [start, x, z, *others]


@pytest.mark.parametrize("kill_after", range(1, 17))
def test_each_loop_of_a_training_has_states_of_its_own(kill_after):
    start = torch.ones(2)
    undisturbed, apart = bits(outer_training(4, start)), Apart(kill_after)
    with cache.attached(apart):
        with pytest.raises(Killed):
            outer_training(4, start)
        assert bits(outer_training(4, start)) == undisturbed
        assert bits(outer_training(4, start)) == undisturbed
    assert apart.offers == 4 + 4 + 8  # no step is done twice
    own = {"steps": 4, "start": plain(start)}
    assert [(task.function, task.configuration) for task in apart.tasks] == [
        ("outer_training", own),
        ("inner_training", {"steps": 4}),
        ("outer_training", own | {"loop": 1}),
    ]


def test_a_loop_keeps_states_only_in_a_marked_training():
    interrupting = Interrupting(0)
    with cache.attached(interrupting):
        counted(3, torch.zeros(1))
    assert interrupting.tasks == interrupting.states == []


def test_device_and_label_are_no_part_of_a_task_and_a_generator_cannot_be_marked():
    apart = Apart()
    with cache.attached(apart):
        inner_training(3)
        inner_training(3, device=CPU, label="again")
    assert apart.offers == 3

    def generate():
        yield from loop.steps(3, "sum")

    with pytest.raises(TypeError, match="is a generator"):
        resumable(generate)


def test_arguments_are_described_only_for_a_cache():
    assert len(outer_training(1, object())) == 5
    with cache.attached(Apart()), pytest.raises(TypeError, match="a configuration cannot hold"):
        outer_training(1, object())
