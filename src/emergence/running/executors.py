"""Executors for the runs of a sweep: this process, several processes here, or a Dask cluster."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

from . import cache

SCHEDULER = "SCHEDULER"  # the environment variable with the address of a Dask scheduler


class Serial(Executor):
    """An executor that does what it is given at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now; an interrupt ends the sweep and is no result."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def default_executor(*, gpu: bool = False) -> Iterator[Executor]:
    """The cluster whose address is in the environment; otherwise processes here."""
    if address := os.environ.get(SCHEDULER):
        with _cluster(address) as executor:
            yield executor
    # on a GPU each process would hold a copy of CUDA
    elif gpu or torch.get_num_threads() == 1:
        yield Serial()
    else:
        with _processes(torch.get_num_threads()) as executor:
            yield executor


@contextmanager
def _processes(count: int) -> Iterator[Executor]:
    """Fresh interpreters, killed when the sweep is given up and when this process dies."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(cache.current(),),
    )
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _begin(used: cache.Cache) -> None:
    """Let a worker keep states in the cache of its parent, and end once that is gone."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # its runs are of the processor
    cache.attach(used)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """The workers of a Dask scheduler; ConnectionError where it cannot be reached."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ConnectionError(
            "SCHEDULER needs Dask on this machine as well: run pip install 'emergence[cluster]'"
        ) from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"there is no Dask scheduler at {address}") from error
    with client:
        yield client.get_executor(pure=False)
