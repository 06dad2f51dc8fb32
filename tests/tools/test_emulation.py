"""The emulated GPU refuses what a GPU refuses, and replays stretches to the bit of the eager loop.

Slips that a GPU would punish show. `make test WHAT=all` executes some chapters of the paper on it,
by `SEED=`, and `make drill WHAT=emulation` all; the others say that they have nothing for a GPU.
"""

import dataclasses
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import trainings
from bookbuild.source.chapters import ANY
from bookbuild.source.chapters import CPU as AT_HOME
from emergence import training
from emergence.running import cache, devices, graphs, loop, stretches
from emergence.running.devices import resolve_device
from emergence.training import MinimalTraining, train_minimal, train_tokens
from interruption import Interrupting, Killed, bits
from tools.emulation import Generator, Kernels, NotCapturable, Replay, emulated, replayed
from tools.this_book import ROOT, chapters, read_outside

GPU = torch.device("cuda", 0)
MIXED, STREAM = "on the same device", "device type for generator"
INDICES, NO_ARRAY = "indices should be either on cpu", "can't convert cuda:0 device type tensor"
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
EVERY, SOME = "EVERY_CHAPTER" in os.environ, 3
CHECKS = ("resolve_device", "devices.resolve_device")


@pytest.fixture
def cuda():
    with emulated() as result:
        yield result


def on_gpu(*shape):
    return torch.randn(*shape, generator=torch.Generator("cuda").manual_seed(0), device="cuda")


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2, device="cuda"), lambda: torch.zeros(2).to("cuda"),
    lambda: torch.zeros(2).cuda(), lambda: torch.arange(2).to(on_gpu(3)),
    lambda: torch.zeros(2).to(torch.device("cuda"), torch.float64),
    lambda: torch.as_tensor(np.ones(2), device="cuda"), lambda: torch.zeros_like(on_gpu(2)),
    lambda: torch.as_tensor(torch.ones(2), device="cuda"), lambda: on_gpu(2).new_zeros(3),
    lambda: on_gpu(3, 3)[1:, 0], lambda: on_gpu(2).double(), lambda: on_gpu(2) * torch.tensor(2.0),
    lambda: on_gpu(3)[torch.tensor([0, 2])], lambda: on_gpu(2).detach().data,
    lambda: torch.where(on_gpu(3) > 0, 1.0, torch.tensor(0.0)), lambda: nn.Parameter(on_gpu(2)),
    lambda: torch.linalg.qr(on_gpu(3, 3)).Q, lambda: nn.Linear(2, 3).to("cuda").weight,
    lambda: torch.einsum("ij,jk", on_gpu(2, 3), on_gpu(3, 2)), lambda: on_gpu(3).std(),
    lambda: torch.func.vmap(torch.sum)(on_gpu(3, 2)), lambda: (on_gpu(3) > 0).cumsum(0),
])  # fmt: skip
@pytest.mark.usefixtures("cuda")
def test_it_is_on_the_gpu(make):
    made = make()
    assert made.device == GPU
    assert (made.is_cuda, made.is_cpu) == (True, False)


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2), lambda: on_gpu(2).cpu(), lambda: on_gpu(2).to("cpu", torch.float64),
    lambda: torch.zeros_like(on_gpu(2), device="cpu"), lambda: torch.tensor(on_gpu(2).tolist()),
    lambda: torch.zeros(2).copy_(on_gpu(2)), lambda: torch.from_numpy(on_gpu(2).cpu().numpy()),
    lambda: torch.Generator("cuda").get_state(), lambda: on_gpu(2).to(torch.zeros(1)),
])  # fmt: skip
@pytest.mark.usefixtures("cuda")
def test_it_is_in_main_memory(make):
    made = make()
    assert made.device == torch.device("cpu")
    assert (made.is_cuda, made.is_cpu) == (False, True)
    assert made.numpy().size


class Wrong(torch.autograd.Function):
    """A product whose backward pass makes its matrix in main memory."""

    @staticmethod
    def forward(ctx, a):
        return a @ a

    @staticmethod
    def backward(ctx, d):
        return d @ torch.eye(3)


@pytest.mark.parametrize(("told", "wrong"), [
    *((MIXED, mix) for mix in (
        lambda a, b: a + b, lambda a, b: a @ b, lambda a, b: torch.cat([a, b]),
        lambda a, b: a.add_(b), lambda a, b: b.sum().add_(a.sum()),
        lambda a, b: a.sum() * b,  # a single number, of the GPU
        lambda a, b: a.gather(0, b.long()), lambda a, b: a.masked_fill(b > 0, 0.0),
        lambda a, b: functional.embedding(b.long(), a), lambda a, b: torch.linalg.solve(a, b),
        lambda a, b: a.index_add_(0, torch.zeros(3, dtype=torch.long), a),
        lambda a, b: a.__setitem__(torch.tensor([0]), b[:1]),
        lambda a, b: a * torch.from_numpy(b.numpy()), lambda a, b: a - nn.Parameter(b),
        lambda a, b: a + b[0].detach(),
        lambda a, b: Wrong.apply(a.requires_grad_()).sum().backward(),
    )),
    *((NO_ARRAY, convert) for convert in (
        lambda a, b: a.numpy(), lambda a, b: np.asarray(a.double()[0]), lambda a, b: np.sqrt(a),
        lambda a, b: np.stack([a, a]),
    )),
    *((INDICES, index) for index in (
        lambda a, b: b[torch.tensor([1], device="cuda")],
        lambda a, b: b.__setitem__(torch.tensor([1], device="cuda"), 0.0),
    )),
    *((STREAM, draw) for draw in (
        lambda a, b: torch.randn(2, generator=torch.Generator("cuda")),
        lambda a, b: torch.randperm(5, generator=torch.Generator("cpu"), device="cuda"),
        lambda a, b: a.uniform_(generator=torch.Generator("cpu")),
        lambda a, b: torch.multinomial(b.abs(), 2, generator=torch.Generator("cuda")),
    )),
    ("different device", lambda a, b: setattr(a, "grad", b)),
    ("not implemented", lambda a, b: a.long() @ a.long()),
    ("deterministic implementation", lambda a, b: a.double().cumsum(1)),
    ("deterministic implementation", lambda a, b: a.kthvalue(1)),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:__array__ implementation")
@pytest.mark.usefixtures("cuda")
def test_what_a_gpu_refuses_is_refused(told, wrong):
    with pytest.raises((RuntimeError, TypeError), match=told):
        wrong(on_gpu(3, 3), torch.ones(3, 3))


@pytest.mark.usefixtures("cuda")
def test_a_gradient_goes_back_to_where_its_tensor_lies():
    here = torch.ones(3, requires_grad=True)
    (here.cuda() * on_gpu(3)).sum().backward()
    assert here.grad.numpy().shape == (3,)


def test_only_what_the_gpu_is_given_is_counted(cuda):
    torch.ones(3) + torch.ones(3)
    assert cuda.operations == 0
    torch.ones(3, device="cuda") + 1
    assert cuda.operations > 0
    assert resolve_device("auto") == torch.device("cuda")


def test_afterwards_all_is_as_before():
    ask = (
        "import torch; from tools import emulation\n"
        "both = torch.Tensor, torch.Generator\n"
        "def names(): return [{n: id(v) for n, v in vars(o).items()} for o in both]\n"
        "before = names()\n"
        "with emulation.emulated(): made = torch.ones(2, device='cuda'); assert made.is_cuda\n"
        "assert before == names()\n"
        "assert made.device.type == 'cpu' and not torch.cuda.is_available()"
    )
    subprocess.run([sys.executable, "-c", ask], cwd=ROOT, check=True)


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
    with Kernels() as launched:
        step()
    assert len(launched.costs) <= 70


def test_chapters_compute_on_the_gpu(dice):
    """In one process for all, without the checks of shapes."""
    elsewhere = [chapter.name for chapter in chapters() if chapter.device == ANY]
    of_paper = [name for name in elsewhere if name.startswith("paper/")]
    chosen = elsewhere if EVERY else dice.sample(of_paper, SOME)
    run = subprocess.run(
        [sys.executable, "-m", "tools.emulation"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        input="\n".join(chosen),
        capture_output=True,
        text=True,
        check=False,
    )
    results = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(results) == len(chosen), run.stderr[-2000:]
    named = list(zip(chosen, results, strict=True))
    assert {name: result["error"] for name, result in named if result["error"]} == {}
    idle = [name for name, result in named if not result["operations"]]
    assert idle == [], "nothing for a GPU: declare the device cpu in the front matter"


def test_chapters_that_declare_cpu_hand_no_device_on():
    """Their parameter is checked at most."""
    at_home = [chapter for chapter in chapters() if chapter.device == AT_HOME]
    handed = {chapter.name: read_outside(chapter, "device", *CHECKS) for chapter in at_home}
    assert {name: cells for name, cells in handed.items() if cells} == {}
    assert len(at_home) > 5
    assert len(chapters()) - len(at_home) > 10
