"""Sweeps: a function at many configurations, by any executor; finished runs are never lost."""

import functools
import hashlib
import importlib.util
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from contextlib import nullcontext, suppress
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import numpy as np
import torch

from . import cache
from .cache import Task
from .executors import default_executor
from .progress import log_step

PATIENCE = 3  # how often workers may be lost without any result in between


def run(
    function: Callable[[Any], Any],
    configurations: Iterable[Any],
    executor: Executor | None = None,
    *,
    label: str = "sweep",
) -> list[Any]:
    """The results of a function at each configuration, in order: the book's sweeps, as in App. F.

    What the cache in use has is not computed again, and what is finished is kept at once. Each run
    uses one thread, so that results do not depend on the executor. When configurations fail, the
    others are finished first.

    Args:
        function: the run, of one argument; importable by its name where other processes run it.
        configurations: one argument per run, often a frozen dataclass; any number of runs.
        executor: of `concurrent.futures`, left open; None for processes here, or for the Dask
            cluster that `SCHEDULER` names.
        label: what messages call the sweep.

    Raises:
        Exception: the first error of a configuration, with a note that names it.
        RuntimeError: when workers are lost again and again, or have other sources or versions.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> sweep.run(abs, [-1, -2], ThreadPoolExecutor(1))
        [1, 2]
    """
    wanted = dict(enumerate(configurations))
    results, store = dict[int, Any](), cache.current()
    for place, configuration in wanted.items() if store is not cache.NO_CACHE else ():
        with suppress(KeyError):
            results[place] = store.get(Task.of(function, configuration=configuration))
    failures: dict[int, Exception] = {}
    gpu = any(str(getattr(given, "device", "cpu")) != "cpu" for given in wanted.values())
    crashes, threads = 0, torch.get_num_threads()
    log_step(label, len(results), len(wanted))
    try:
        while missing := {k: v for k, v in wanted.items() if k not in results | failures}:
            try:
                with nullcontext(executor) if executor else default_executor(gpu=gpu) as pool:
                    for place, future in _finished(pool, function, missing):
                        try:
                            results[place] = future.result()
                        except BrokenExecutor:
                            raise  # its configuration is tried again
                        except Exception as error:
                            failures[place] = error
                        else:
                            crashes = 0
                            if store is not cache.NO_CACHE:
                                task = Task.of(function, configuration=wanted[place])
                                store.put(task, results[place])
                        log_step(label, len(results) + len(failures), len(wanted))
            except BrokenExecutor as error:
                crashes += 1
                if executor is not None or crashes == PATIENCE:
                    raise RuntimeError(
                        f"{label}: a worker was lost after {len(results)} of {len(wanted)} runs; "
                        "run the command again"
                    ) from error
    finally:
        torch.set_num_threads(threads)
    for place, failure in failures.items():
        failure.add_note(f"{label}: at {wanted[place]!r}; {len(failures)} of {len(wanted)} failed")
        raise failure
    return [results[place] for place in wanted]


def _finished(
    pool: Executor, function: Callable[[Any], Any], missing: Mapping[int, Any]
) -> Iterator[tuple[int, Future[Any]]]:
    """Submit all; yield each future once it is done. Given up, it cancels what is left."""
    sources = _sources(function.__module__)
    places: dict[Future[Any], int] = {}
    try:
        for place, configuration in missing.items():
            future = pool.submit(_one, function, configuration, sources)
            if future.done():  # an executor that does it at once: its result is kept at once
                yield place, future
            else:
                places[future] = place
        yield from ((places[future], future) for future in as_completed(places))
    finally:
        for future in places:
            future.cancel()


def _one(function: Callable[[Any], Any], configuration: Any, sources: str) -> Any:
    """One run, in a worker: with one thread, for more would add up in another order."""
    if _sources(function.__module__) != sources:
        raise RuntimeError(
            f"a worker on {platform.node()} has other sources or versions than this machine"
        )
    torch.set_num_threads(1)
    with cache.inner():
        return function(configuration)


@functools.cache
def _sources(module: str) -> str:
    """A checksum of the packages that come with that of a module, and of versions beneath them."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {torch.__version__} {np.__version__}".encode())
    own, top = __name__.partition(".")[0], module.partition(".")[0]
    installed = packages_distributions()
    distributions = set(installed.get(top, ()))
    with_it = {name for name, by in installed.items() if distributions & set(by)}
    for name in sorted({own, top, *with_it}):
        spec = None if name in ("__main__", "__mp_main__") else importlib.util.find_spec(name)
        if spec is None or spec.origin is None or not spec.has_location:
            continue  # such a function travels with its code
        path = Path(spec.origin)
        files = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
        for source in files:
            digest.update(source.relative_to(path.parent).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()
