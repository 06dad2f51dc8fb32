"""Figure 5's sweep in one process, in several of which one is killed, and on Dask workers."""

import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import torch

from bookbuild.results.cache import StoredCache
from chapters.paper.full_dynamics import EmergenceSweep, Point, emergence_steps
from running import cache, executors, sweep
from tools.faults.row import Row, results
from tools.this_book import ROOT

WORKERS, KILLED = 3, 2
SETTINGS = EmergenceSweep(dim=64, learning_rate=10.0, batch_size=32)  # Figure 5, a quarter the size


def rows(folder: Path, runs: int) -> Iterator[Row]:
    """Yield a row for processes and one for Dask, each compared with a serial sweep."""
    cpu = torch.device("cpu")
    points = [SETTINGS.point(n, seed, cpu) for n in (2, 4) for seed in range(runs // 2)]
    serial, kept = _swept(points, folder / "serial", executors.Serial())
    row = Row("a killed process of the sweep's pool")
    with _killer(_children_of_pool, 1, row):
        found, stored = _swept(points, folder / "pool", None)
    _compare(row, serial, kept, found, stored)
    yield row
    row = Row(f"{KILLED} of {WORKERS} Dask workers killed during a sweep")
    if importlib.util.find_spec("distributed") is None:
        row.remark = "not tried: Dask is not installed"
        yield row
        return
    with (
        _dask(folder) as (address, workers),
        executors.default_executor(address) as executor,
        _killer(lambda: workers, KILLED, row),
    ):
        found, stored = _swept(points, folder / "dask", executor)
    _compare(row, serial, kept, found, stored)
    yield row


def _swept(points: list[Point], folder: Path, executor: object) -> tuple[bytes, dict[str, bytes]]:
    """Return the bits of the results, and those in the store, by key."""
    remembering = StoredCache(folder, ROOT / "src", "cpu", {})
    before = torch.get_num_threads()
    torch.set_num_threads(2)  # two processes
    try:
        with cache.attached(remembering):
            found = sweep.run(emergence_steps, points, executor)
    finally:
        torch.set_num_threads(before)
    return np.stack(found).tobytes(), results(folder, "0.npy")


def _compare(
    row: Row, bits: bytes, kept: dict[str, bytes], others: bytes, stored: dict[str, bytes]
) -> None:
    row.noticed = row.tried
    row.check(row.tried > 0, "nothing was killed")
    row.check(others == bits, "other results than in one process")
    row.check(stored == kept, "another store than in one process")
    row.remark = f"{len(kept)} runs and stored results equal to the bit to those of one process"


@contextmanager
def _killer(victims: Callable[[], list[psutil.Process]], count: int, row: Row) -> Iterator[None]:
    """Kill processes, one after the other, once the sweep has its first results."""
    first, done = threading.Event(), threading.Event()
    original = sweep._keep
    killed: set[int] = set()

    def keep(*arguments: object) -> None:
        original(*arguments)
        first.set()

    def kill() -> None:
        first.wait(300)
        for _ in range(count):
            if done.is_set():
                return
            alive = [process for process in victims() if process.pid not in killed]
            alive[0].kill()  # its parent has to wait for it: who else does takes its end away
            killed.add(alive[0].pid)
            row.tried += 1
            time.sleep(0.5)

    sweep._keep = keep
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        done.set()
        first.set()
        thread.join()
        sweep._keep = original


def _children_of_pool() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


@contextmanager
def _dask(folder: Path) -> Iterator[tuple[str, list[psutil.Process]]]:
    """A scheduler and three workers, each a process of its own that nobody restarts."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "scheduler.json"
    path = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0", *common]
    worker = ["worker", "--no-nanny", "--nthreads", "1", "--local-directory", str(folder), *common]
    started: list[subprocess.Popen[bytes]] = []

    def start(order: list[str]) -> None:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + order[0], *order[1:]],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    try:
        start(scheduler)
        deadline = time.monotonic() + 120
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.2)
        address = json.loads(file.read_text())["address"]
        for _ in range(WORKERS):
            start(worker)
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=240)
        yield address, [psutil.Process(process.pid) for process in started[1:]]
    finally:
        for process in started:
            process.kill()
            process.wait()
