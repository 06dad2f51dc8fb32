"""Replayed stretches give the bits of the eager loop, and slips that a GPU would punish show."""

import dataclasses
from contextlib import nullcontext
from functools import partial
from unittest import mock

import pytest
import torch

import trainings
from emergence import training
from emergence.running import cache, devices, graphs, loop, stretches
from emergence.training import MinimalTraining, train_minimal, train_tokens
from interruption import Interrupting, Killed, bits
from tools.emulation.emulate import Generator, emulated
from tools.emulation.replay import NotCapturable, Replay, launches, replayed

CPU = torch.device("cpu")
STEPS = 30
MINIMAL = MinimalTraining(2, 8, 8, STEPS, record_every=3, snapshots=(0, 7, STEPS))
KINDS = {
    name: dataclasses.replace(MINIMAL, **changes)
    for name, changes in trainings.MINIMAL_KINDS.items()
} | {"until": dataclasses.replace(MINIMAL, learning_rate=4.0, until_loss=0.8)}
TOKENS = {
    "sgd": dataclasses.replace(trainings.TOKENS, optimiser="sgd"),
    "until": dataclasses.replace(trainings.TOKENS, until_loss=2.0, steps=STEPS),
}
RUNS = {
    **{
        name: partial(train, STEPS, CPU)
        for name, train in trainings.TRAININGS.items()
        if name != "particles"
    },
    **{f"minimal, {k}": partial(train_minimal, s, (0, 1), device=CPU) for k, s in KINDS.items()},
    **{f"tokens, {k}": partial(train_tokens, s, 3, device=CPU) for k, s in TOKENS.items()},
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_replayed_is_eager_to_the_bit(run, unchecked):
    eager = bits(run())
    with replayed():
        assert bits(run()) == eager


@pytest.mark.parametrize("name", ["tokens", "particles"])  # Adam has a form of its own there
def test_on_an_emulated_gpu_as_well(name, unchecked, monkeypatch):
    result = []
    for wanted in "01":
        monkeypatch.setenv("GRAPHS", wanted)
        with emulated():
            result.append(bits(trainings.TRAININGS[name](STEPS, torch.device("cuda"))))
    assert result[0] == result[1]


@pytest.mark.parametrize("first", [True, False])
def test_a_state_of_either_loop_serves_the_other(first):
    run = RUNS["minimal, causal"]
    eager, interrupting = bits(run()), Interrupting(4)
    contexts = [replayed, cache.inner]
    with cache.attached(interrupting):
        with contexts[first](), pytest.raises(Killed):
            run()
        with contexts[not first]():
            assert bits(run()) == eager


class Refused(Replay):
    """A capture that CUDA refuses when it has drawn from the streams already."""

    def __init__(self, work, streams):
        super().__init__(work, streams)
        torch.randn(2, generator=streams[0], device="cuda")
        raise RuntimeError("not permitted when a stream is captured")


def test_a_step_that_a_gpu_does_not_record_is_walked_and_told(monkeypatch, caplog):
    for name, usual in (("get_state", Generator.get_state), ("set_state", Generator.set_state)):
        monkeypatch.setattr(Generator, f"graphsafe_{name}", usual, raising=False)
    monkeypatch.setattr(graphs, "stepwise", [])
    result = []
    for recorder in (Replay, Refused):
        with emulated(), mock.patch.object(graphs, "CudaGraph", recorder):
            result.append(bits(trainings.TRAININGS["minimal"](STEPS, torch.device("cuda"))))
    assert result[0] == result[1]
    assert set(graphs.stepwise) == {"training"}
    assert "could not be recorded (not permitted when a stream is captured)" in caplog.text


def test_a_kill_in_the_midst_of_a_stretch_loses_that_stretch_alone(monkeypatch):
    run, whole, seen = RUNS["minimal, causal"], Replay.replay, []

    def broken(self):
        seen.append(self)
        if len(seen) == 3:
            self.tape = self.tape[: len(self.tape) // 2]
        whole(self)
        if len(seen) == 3:
            raise Killed

    eager, keeping = bits(run()), Interrupting(kill_after=-1)
    with cache.attached(keeping), replayed():
        monkeypatch.setattr(Replay, "replay", broken)
        with pytest.raises(Killed):
            run()
        assert bits(run()) == eager
    steps = [state["step"] for state in keeping.states]
    assert steps == sorted(set(steps))  # no stretch is done twice


@pytest.mark.parametrize("step", [0, 1, 60, 61, 120])
def test_a_divergence_is_told_at_the_same_step(step):
    """Which of a stretch, or of its first, it is."""
    assert stretches.lengths(121, 1, 0)[0] == 2
    output = []
    for kind in (nullcontext, replayed):
        x, rows = torch.tensor([2.0 ** (128 - step) if step else torch.inf]), []

        def double(recorded, x=x):
            loss = x.sum()
            x.mul_(2)
            return loss, (loss,)

        with kind(), pytest.raises(ArithmeticError, match=f"not finite at step {step}") as raised:
            loop.descend(121, "double", double, rows=rows, x=x)
        output.append((str(raised.value), bits(rows), bits(x)))
    assert output[0] == output[1]
    assert len(rows) == step


def slipping(slip):
    """A descent of two numbers with a slip, which sees the number, its stream and the step."""
    x, stream, rows, count = torch.ones(2), devices.generator(0, CPU), [], [0]

    def step(recorded):
        noise = torch.randn(2, generator=stream)
        loss = x.square().sum()
        slip(x, noise, count)
        count[0] += 1
        return loss, (loss,)

    loop.descend(50, "slip", step, rows=rows, x=x, stream=stream)
    return bits(rows)


@pytest.mark.parametrize("slip", [
    lambda x, noise, count: x.mul_(0.5 if x[0] > 2 else 0.9),
    lambda x, noise, count: x[noise > 0].sum(),
    lambda x, noise, count: x.add_(torch.randn(2, generator=torch.Generator())),
    lambda x, noise, count: x.add_(torch.randn(2)),
    lambda x, noise, count: x.normal_(),
    lambda x, noise, count: torch.nn.functional.dropout(x, 0.5),
    lambda x, noise, count: x[torch.randperm(2)],
    lambda x, noise, count: torch.nonzero(noise),
    lambda x, noise, count: torch.bincount(noise.abs().long()),
    lambda x, noise, count: bool((noise > 9).any()),
    lambda x, noise, count: torch.linalg.cholesky_ex(torch.eye(2)),
])  # fmt: skip
def test_what_a_capture_refuses_is_refused(slip):
    slipping(slip)
    with replayed(), pytest.raises(NotCapturable):
        slipping(slip)


@pytest.mark.parametrize("slip", [
    lambda x, noise, count: x.mul_(1 - 0.01 * count[0]),  # a rate that is counted in Python
    lambda x, noise, count: setattr(x, "data", x.data + noise),  # another array
    lambda x, noise, count: x[: 1 + (count[0] > 20)].mul_(0.9),  # another shape, later
    lambda x, noise, count: (x.add_(count[-1]), count.append(noise)),  # what a list holds
])  # fmt: skip
def test_what_a_graph_does_not_see_gives_other_bits(slip):
    with replayed():
        again = slipping(slip)
    assert again != slipping(slip)


@pytest.mark.parametrize(("told", "slip"), [
    *(("waits", bring) for bring in (
        lambda x: x + torch.tensor([1.0, 2.0], device="cuda"),
        lambda x: x.add_(torch.ones(2).cuda()),
        lambda x: x.cpu(), lambda x: x[torch.tensor([0])], lambda x: x.new_tensor(1.0),
    )),
    ("draws from a stream", lambda x: x.add_(torch.randn(2, device="cuda"))),
    ("draws from a stream", lambda x: torch.bernoulli(x.sigmoid())),
])  # fmt: skip
def test_an_emulated_gpu_refuses_what_comes_from_elsewhere(told, slip):
    def step(recorded):
        slip(x)
        return x.sum(), None

    with emulated():
        x = torch.ones(2, device="cuda")
        with pytest.raises(NotCapturable, match=told):
            loop.descend(9, "bring", step, rows=[], x=x)


@pytest.mark.parametrize("steps", [100, 300])
def test_a_descent_waits_once_a_stretch(steps):
    settings = dataclasses.replace(MINIMAL, steps=steps, record_every=2, snapshots=())
    longest = stretches.lengths(steps, 2, 0)[0]
    with emulated() as cuda:
        train_minimal(settings, (0, 1), device=torch.device("cuda"))
    assert cuda.waits <= steps / longest + 2 + 10  # and constants, and the rows at the end


def test_a_step_of_section_4_has_few_launches():
    settings = MinimalTraining(16, 16, 128, 1)
    network, streams = training.Full(settings, "fast"), [devices.generator(i, CPU) for i in (0, 1)]
    weights = network.start(streams, torch.float32)

    def step():
        batch = training.stacked_batches(settings, streams, torch.float32)
        _, gradient = training.minimal_step(network, weights, *batch)
        network.descend(weights, gradient)

    step()  # makes the constants
    assert launches(step) <= 70
