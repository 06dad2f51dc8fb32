"""A run that is put down and taken up again ends in the same bits."""

import dataclasses
from contextlib import nullcontext
from functools import partial
from itertools import product

import numpy as np
import pytest
import torch

import trainings
from asserts import refused
from chapters.beyond.real_transformers.side_by_side import train_side_by_side
from chapters.companions import two_accounts, weight_norm
from chapters.companions.clustering import Derived, energy
from chapters.companions.grokking import Direction, RealTraining, Simulation, direction
from chapters.companions.grokking import training as grokking
from chapters.companions.weight_norm import TrainedPrinters
from chapters.paper.appendix_a import averages
from chapters.paper.induction_heads.feed_forward import MLPRun, train_mlp
from chapters.paper.minimal_formulation import train_one_layer
from draws import CPU, normal, stream
from emergence.running import cache, loop
from emergence.running.cache import Task, plain
from emergence.running.memo import kept, resumable
from emergence.running.stretches import Stretches
from emergence.training import MinimalTraining, train_minimal, train_tokens
from interruption import Apart, Interrupting, Killed, assert_resumes, bits
from tools.emulation import emulated
from trainings import TOKENS

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


# measured at steps 40 and 60: killed before the first, around it, and between them
UPDATES = Direction(
    modulus=5, hidden=32, n_test=3, steps=60, n_measured=2, pull_steps=10, switch_window=20,
    single=False,
)  # fmt: skip
MODULAR = Simulation(modulus=7, hidden=48, steps=20, embedding_std=7**-0.5, log_every=5)
SLOWED = RealTraining(decay=0.3, log_every=0.006, clock=0.05, slowdown=2.0)
PRINTERS = TrainedPrinters(units=3, runs=2, trained_steps=6)
PAIRS = dataclasses.replace(TOKENS, block_size=5, batch_size=16, steps=60, embedding_scale=1.0)


def derived():
    start, counted = normal(stream(), 2, 5, 2), torch.rand(2, 15, generator=stream()) < 0.8
    given = {"start": start, "counted": counted, "beta": 0.5, "ridge": 0.1, "device": CPU}
    return [energy.simulate_derived(Derived(units=24, steps=12), **given)]


def descent(data):
    return averages.descend_on_samples(averages.zero_weights(2, 4), data, 8, 0.25)


def turned():
    samples = averages.gaussian([stream(0), stream(1)], 2, 2, 4)
    return averages.orbit(*samples, averages.pauli_group(4))


def side_by_side(optimiser):
    """One run leaves at once, for it diverges, one on the way, and one stays to the end."""
    settings = dataclasses.replace(PAIRS, optimiser=optimiser)
    levels = [1.01 * np.log(2), 0.6]
    return train_side_by_side(settings, [0, 1, 2], [1e6, 0.05, 1e-4], levels=levels, device=CPU)


OTHERS = {
    "MLP": (lambda: train_mlp(MLPRun(dataclasses.replace(TOKENS, steps=10), 0, True)), [7]),
    "one layer": (lambda: train_one_layer(2, 2, 0, steps=10, batch_size=4), [7]),
    "accounts, stream": (
        lambda: two_accounts.train_stream_model(ACCOUNTS, trainings.BIGRAMS, (1,), device=CPU),
        [7],
    ),
    "updates": (lambda: direction.measure_updates(UPDATES, (0, 1), label="test"), [1, 40, 55]),
    "grokking": (lambda: grokking.train(MODULAR, SLOWED, 3), [1, 12]),
    "its simulation": (lambda: direction.simulate(MODULAR, 3, ridge=0.3), [1, 12]),
    "clustering, derived": (derived, [9]),
    "networks per string": (lambda: weight_norm.networks_per_string(2, 6, 6), [1, 5]),
    "printers": (lambda: weight_norm.train_looped([5], 6, PRINTERS, decay=1e-3, seed=0), [3]),
    "a whole group": (lambda: descent(turned()), [1, 7]),
    "fresh samples": (lambda: descent(averages.Fresh((stream(0), stream(1)), 8, 2, 4)), [1, 7]),
    "side by side, adamw": (lambda: side_by_side("adamw"), [20]),
    "side by side, sgd": (lambda: side_by_side("sgd"), [45]),
}


@pytest.mark.parametrize("kind", MINIMAL_KINDS)
def test_a_killed_minimal_training_ends_in_the_same_bits(kind):
    train = partial(train_minimal, MINIMAL_KINDS[kind], (0, 1), device=CPU)
    for kill_after in (4, 11):
        assert_resumes(train, kill_after, ends_early=kind == "until")


@pytest.mark.parametrize("kind", TOKEN_KINDS)
def test_a_killed_token_training_ends_in_the_same_bits(kind):
    train = partial(train_tokens, TOKEN_KINDS[kind], 3, device=CPU)
    for kill_after in (3, 7):
        assert_resumes(train, kill_after, ends_early=kind == "until")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("train", "kills"), OTHERS.values(), ids=OTHERS)
def test_a_killed_training_of_a_chapter_ends_in_the_same_bits(train, kills):
    for kill_after in kills:
        assert_resumes(train, kill_after)


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
        refused(Killed, None, train_minimal, MINIMAL, (0,), device=CPU)
        fresh = stream().get_state().numpy()
        interrupting.states[-1]["parts"]["streams"] = [fresh]
        assert not torch.equal(train_minimal(MINIMAL, (0,), device=CPU).loss, undisturbed.loss)


def test_every_difference_of_a_training_is_in_its_task():
    interrupting = Interrupting(0)
    slower = dataclasses.replace(MINIMAL, learning_rate=0.5)
    with cache.attached(interrupting):
        for settings, seed, method, dtype in product(
            (MINIMAL, slower), (0, 1), ("fast", "dense"), (torch.float32, torch.float64)
        ):
            interrupting.states.clear()
            train_minimal(settings, (seed,), device=CPU, method=method, dtype=dtype)
    assert len(set(map(repr, interrupting.tasks))) == len(interrupting.tasks) == 16


def test_configurations_are_plain_or_refused():
    assert plain(MINIMAL)["n_pairs"] == 2
    assert plain(MINIMAL)[""] == "MinimalTraining"
    assert plain({"a": (1, None, 2.5)}) == {"a": [1, None, 2.5]}
    assert plain(np.zeros(2)) == plain(np.zeros(2)) != plain(np.zeros((2, 1)))
    assert plain([np.int64(3), torch.device("cpu"), torch.half]) == [3, "cpu", "torch.float16"]
    for value in (np.array([None]), {1: 2}, object(), {1, 2}):
        refused(TypeError, "a configuration cannot hold", plain, value)
    refused(TypeError, "functions of a module", Task.of, lambda x: x, x=1)


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
        refused(Killed, None, outer_training, 4, start)
        assert bits(outer_training(4, start)) == undisturbed
        assert bits(outer_training(4, start)) == undisturbed
    assert apart.offers == 4 + 4 + 8  # no step is done twice
    own = {"steps": 4, "start": plain(start)}
    assert [(task.function, task.configuration) for task in apart.tasks] == [
        ("outer_training", own),
        ("inner_training", {"steps": 4}),
        ("outer_training", own | {"loop": 1}),
    ]


def test_marked_trainings_alone_keep_states():
    interrupting = Interrupting(0)
    with cache.attached(interrupting):
        counted(3, torch.zeros(1))
    assert interrupting.tasks == interrupting.states == []
    apart = Apart()
    with cache.attached(apart):
        inner_training(3)
        inner_training(3, device=CPU, label="again")
    assert apart.offers == 3

    def generate():
        yield from loop.steps(3, "sum")

    refused(TypeError, "is a generator", resumable, generate)
    assert len(outer_training(1, object())) == 5
    with cache.attached(Apart()), pytest.raises(TypeError, match="a configuration cannot hold"):
        outer_training(1, object())
