"""Every training on the emulated GPU: its waits, its going on after a kill, and planted slips."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from chapters.companions.birth import training as birth
from emergence.training import _minimal as minimal
from interruption import assert_resumes
from running import loop
from tools.emulation.emulate import emulated
from tools.emulation.trainings import TRAININGS

CUDA = torch.device("cuda")
FIRST = 12  # steps, after which a training is under way
PERIOD = 24  # steps: every training records, draws and tests a whole number of times in them
# How often the processor may wait for the GPU in a period: what is needed to look whether each
# loss is finite, to record, and, where the number says so, more that could be saved.
BUDGET = {
    "minimal": 72, "minimal, dense": 72, "tokens": 72, "side by side": 96, "share of noise": 24,
    "chosen queries": 192, "curriculum": 48, "law of noise": 744, "retrieval": 84, "birth": 184,
    "birth, one layer": 168, "distributional": 256, "facts": 28, "facts stored": 48, "pairs": 48,
    "clustering": 71, "particles": 24,
}  # fmt: skip
KILLED = (
    "minimal", "tokens", "retrieval", "birth", "facts stored", "side by side", "share of noise",
    "chosen queries", "curriculum", "law of noise",
)  # fmt: skip
pytestmark = pytest.mark.usefixtures("unchecked")


def waits(train: Callable[[int, torch.device], Any]) -> int:
    """How often the processor waits for the GPU in a period, however it starts and ends."""
    found = []
    for steps in (FIRST, FIRST + PERIOD):
        with emulated() as cuda:
            train(steps, CUDA)
        found.append(sum(cuda.syncs.values()))
    return found[1] - found[0]


@contextmanager
def planted(module: ModuleType, right: str, wrong: str) -> Iterator[None]:
    """A module with one piece of its code replaced; its own functions are to be called."""
    source, before = Path(str(module.__file__)).read_text(encoding="utf-8"), dict(vars(module))
    assert source.count(right) == 1
    try:
        exec(compile(source.replace(right, wrong), str(module.__file__), "exec"), vars(module))
        yield
    finally:
        vars(module).update(before)


def run_minimal(steps: int, device: torch.device) -> Any:
    settings = minimal.MinimalTraining(2, 6, 8, steps, record_every=3)
    return minimal.train_minimal(settings, (0, 1), device=device)


@pytest.mark.parametrize("name", TRAININGS)
def test_a_step_waits_for_the_gpu_no_more_than_its_budget_says(name):
    assert waits(TRAININGS[name]) <= BUDGET[name]


@pytest.mark.parametrize("name", KILLED)
def test_a_training_killed_on_the_gpu_ends_in_the_same_bits(name):
    with emulated():
        assert_resumes(partial(TRAININGS[name], FIRST, CUDA), 5)


def test_the_emulated_gpu_changes_no_bit():
    here = TRAININGS["minimal"](8, torch.device("cpu"))
    with emulated() as cuda:
        there = TRAININGS["minimal"](8, CUDA)
    assert cuda.operations > 100
    assert torch.equal(here.pseudo, there.pseudo)


@pytest.mark.parametrize(
    ("module", "run", "right", "wrong"),
    [
        (minimal, run_minimal, "torch.minimum(least, loss, out=least)",
         "torch.minimum(least, loss, out=least); loss.sum().item()"),
        (loop, run_minimal, "if not torch.isfinite(torch.as_tensor(loss)).all()",
         "if not all(map(bool, torch.isfinite(torch.as_tensor(loss))))"),
    ],
    ids=["item", "bool"],
)  # fmt: skip
def test_a_wait_planted_in_a_step_breaks_the_budget(module, run, right, wrong):
    usual = waits(run)
    with planted(module, right, wrong):
        assert waits(run) == usual + PERIOD


@pytest.mark.parametrize(
    ("module", "run", "right", "wrong", "told"),
    [
        (minimal, run_minimal, "network.descend(parameters, gradient)",
         "network.descend(parameters, gradient); loss.numpy()", "can't convert cuda:0"),
        (minimal, run_minimal, "streams = [generator(seed, device) for",
         "streams = [generator(seed, torch.device('cpu')) for", "on the same device"),
        (minimal, run_minimal, "torch.inf, dtype=dtype, device=device)",
         "torch.inf, dtype=dtype)", "on the same device"),
        (minimal, run_minimal, "row.cpu() for row", "row.numpy() for row", "can't convert cuda:0"),
        (birth, TRAININGS["birth"], "stream = generator(seed, device)",
         "stream = generator(seed, torch.device('cpu'))", "device"),
        (birth, TRAININGS["birth"], "part.grad = pull", "part.grad = pull.cpu()",
         "different device"),
    ],
    ids=["numpy", "stream", "device", "record", "stream of a companion", "gradient"],
)  # fmt: skip
def test_a_slip_planted_in_a_training_is_refused(module, run, right, wrong, told):
    refused = pytest.raises((TypeError, RuntimeError), match=told)
    with planted(module, right, wrong), emulated(), refused:
        run(PERIOD, CUDA)
