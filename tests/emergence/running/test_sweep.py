"""Devices, and sweeps: the same results from every executor, nothing finished is lost."""

import multiprocessing
import os
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext

import numpy as np
import pytest
import torch

from chapters.paper import full_dynamics
from chapters.paper.full_dynamics import emergence_steps
from emergence.running import cache, devices, executors, sweep
from interruption import Memory


def test_a_device_is_known_by_its_name(monkeypatch):
    for has_cuda, automatic in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda has_cuda=has_cuda: has_cuda)
        assert devices.resolve_device("auto").type == automatic
        assert devices.resolve_device("cpu").type == "cpu"
    assert devices.resolve_device("cuda").type == "cuda"


def test_a_device_that_is_not_there_raises(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name, message in (("cuda", "no CUDA device"), ("tpu", "auto, cpu or cuda, got 'tpu'")):
        with pytest.raises(ValueError, match=message):
            devices.resolve_device(name)


SMALL = full_dynamics.EmergenceSweep(
    descent_pairs=(2, 3), sampled_pairs=(2, 3), dim=16, learning_rate=10.0, batch_size=8
)
POINTS = [SMALL.point(n, seed, torch.device("cpu")) for n in (2, 3) for seed in (0, 1)]


def square(x):
    return x * x


def brittle(x):
    if x == 2:
        raise ArithmeticError("the loss is not finite")
    return x


def test_results_come_in_the_order_of_the_configurations():
    assert sweep.run(square, [3, 1, 2]) == [9, 1, 4]
    assert sweep.run(square, []) == []
    with ThreadPoolExecutor(2) as pool:
        assert sweep.run(square, iter(range(20)), pool) == [x * x for x in range(20)]
        assert sweep.run(lambda x: -x, [1], pool) == [-1]


def test_serial_and_threads_give_the_bits_of_one_run_alone_with_one_thread():
    alone = np.stack([emergence_steps(point) for point in POINTS])
    assert np.isfinite(alone).all()
    torch.set_num_threads(2)
    try:
        assert sweep.run(lambda _: torch.get_num_threads(), [0, 1], executors.Serial()) == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    with ThreadPoolExecutor(2) as pool:
        for executor in (executors.Serial(), pool):
            assert np.array_equal(np.stack(sweep.run(emergence_steps, POINTS, executor)), alone)


def test_what_is_known_is_not_computed_again():
    remembering, calls = Memory(), []
    with cache.attached(remembering):
        assert sweep.run(square, [1, 2, 3]) == [1, 4, 9]
        remembering.known = {name: 10 * value for name, value in remembering.known.items()}
        assert sweep.run(square, [2, 3, 4]) == [40, 90, 16]
        with pytest.raises(TypeError, match="functions of a module"):
            sweep.run(lambda x: calls.append(x), [1])
    assert calls == []


def test_a_failed_run_is_named_after_the_others_are_finished():
    remembering = Memory()
    with cache.attached(remembering), pytest.raises(ArithmeticError) as caught:
        sweep.run(brittle, [1, 2, 3], label="sizes")
    assert caught.value.__notes__ == ["sizes: at 2; 1 of 3 failed"]
    assert sorted(remembering.known.values()) == [1, 3]


class Losing(executors.Serial):
    """An executor whose workers are lost at certain submissions."""

    def __init__(self, losses):
        self.losses, self.submitted = losses, 0

    def submit(self, fn, /, *args, **kwargs):
        self.submitted += 1
        if self.submitted not in self.losses:
            return super().submit(fn, *args, **kwargs)
        future = Future()
        future.set_exception(BrokenProcessPool("a worker died"))
        return future


def test_runs_whose_worker_was_lost_are_done_again(monkeypatch):
    executor = Losing([1, 3, 6])
    monkeypatch.setattr(sweep, "default_executor", lambda **_: nullcontext(executor))
    assert sweep.run(square, range(5)) == [0, 1, 4, 9, 16]
    assert executor.submitted == 8


def test_workers_that_are_always_lost_end_the_sweep_and_keep_what_is_done(monkeypatch):
    executor, remembering = Losing(range(3, 100)), Memory()
    monkeypatch.setattr(sweep, "default_executor", lambda **_: nullcontext(executor))
    with (
        cache.attached(remembering),
        pytest.raises(RuntimeError, match="a worker was lost after 2 of 5 runs"),
    ):
        sweep.run(square, range(5))
    assert sorted(remembering.known.values()) == [0, 1]


def test_an_interrupt_cancels_what_has_not_started():
    cancelled = []

    class Waiting(Executor):
        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            future.add_done_callback(lambda done: cancelled.append(done.cancelled()))
            if args[1] == 2:
                future.set_exception(KeyboardInterrupt())
            return future

    with pytest.raises(KeyboardInterrupt):
        sweep.run(square, [1, 2, 3], Waiting())
    assert cancelled.count(True) >= 1


def test_a_worker_with_other_sources_is_refused():
    with pytest.raises(RuntimeError, match="other sources or versions"):
        sweep._one(square, 2, "another checksum")


@pytest.mark.slow("processes that load PyTorch")
def test_processes_compute_and_are_gone_afterwards(monkeypatch):
    monkeypatch.setattr(sweep, "default_executor", lambda **_: executors._processes(2))
    assert sweep.run(os.path.getsize, [__file__] * 3) == [os.path.getsize(__file__)] * 3
    assert not multiprocessing.active_children()


def test_processes_by_default_where_there_are_threads_for_them(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with executors.default_executor() as executor:
        assert isinstance(executor, ProcessPoolExecutor)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    with executors.default_executor() as executor:
        assert isinstance(executor, executors.Serial)
