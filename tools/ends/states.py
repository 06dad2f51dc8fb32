"""States of a training near its end: kept while it runs, packed small, and gone on from.

Both caches use what lets every training of this book go on after a kill (`running.loop`).
"""

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from running import cache

LARGE = 1000  # numbers; tensors with more are kept with fewer bits


class Keeping(cache.Cache):
    """A cache that copies one state of each training: that of its end, or an earlier one.

    Attributes:
        states: a state for each training, in the order in which they began.
    """

    def __init__(self, at: int | None = None, watch: Callable[[Any], float] | None = None) -> None:
        """Keep the state after step `at`, else the last one.

        With `watch`, a reading of the parts of a state, `at` is a number of steps between two
        tests. Then the state is kept that stands half of them before the reading last rose.
        """
        self.at, self.watch, self.states = at, watch, []

    def checkpoint(self, task: cache.Task) -> "_Kept":
        """A place for one training."""
        self.states.append({})
        return _Kept(self, len(self.states) - 1)


class _Kept(cache.Checkpoint):
    def __init__(self, keeping: Keeping, place: int) -> None:
        self.keeping, self.place, self.count = keeping, place, 0
        self.before, self.best = {}, -np.inf

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        self.count += 1
        at, watch = self.keeping.at, self.keeping.watch
        if watch is None:
            if self.count == at or (at is None and ended):
                self.keeping.states[self.place] = copied(state())
        elif self.count % at == at // 2:
            self.before = copied(state())
        elif self.count % at == 0 and (found := watch(state()["parts"])) > self.best:
            self.best, self.keeping.states[self.place] = found, self.before


class Resuming(cache.Cache):
    """A cache from which trainings go on, each from one of these states, in their order."""

    def __init__(self, states: list[dict[str, Any]]) -> None:
        self.states = deque(states)

    def checkpoint(self, task: cache.Task) -> "_From":
        """Where the next training goes on."""
        return _From(self.states.popleft())


class _From(cache.Checkpoint):
    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def load(self) -> dict[str, Any]:
        return self.state


def copied(value: Any) -> Any:
    """A state of its own, which no later step changes."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value.detach().cpu().clone() if isinstance(value, torch.Tensor) else value


def packed(value: Any, name: str, bits: int) -> dict[str, np.ndarray]:
    """A state as arrays by name; long ones have 32 or 16 bits a number, or 8 and a scale a row."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = [(f"#{place}", item) for place, item in enumerate(value)]
    else:
        return _array(value, name, bits)
    found = {name: np.array([], dtype="U1")} if isinstance(value, list) and not value else {}
    for key, item in parts:
        found |= packed(item, f"{name}/{key}", bits)
    return found


def _array(value: Any, name: str, bits: int) -> dict[str, np.ndarray]:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return {name: np.asarray(value)}
    if value.numel() <= LARGE or bits == 32:
        return {name: value.numpy()}
    if bits == 16:
        return {f"{name}:16": value.bfloat16().view(torch.int16).numpy()}
    rows = value.reshape(-1, value.shape[-1]).float()
    scale = rows.abs().amax(dim=1, keepdim=True).clamp(min=1e-30) / 127
    whole = (rows / scale).round().to(torch.int8)
    return {f"{name}:8": whole.view(value.shape).numpy(), f"{name}:scale": scale.numpy()}


def unpacked(arrays: Mapping[str, np.ndarray], name: str) -> Any:
    """The value that `packed` took apart."""
    if name in arrays:
        found = arrays[name]
        if found.dtype.kind == "U":
            return []
        return found.item() if found.ndim == 0 and found.dtype.kind in "iub" else found
    if f"{name}:16" in arrays:
        return torch.tensor(arrays[f"{name}:16"]).view(torch.bfloat16).float().numpy()
    if f"{name}:8" in arrays:
        whole = arrays[f"{name}:8"]
        rows = whole.reshape(-1, whole.shape[-1]).astype(np.float32) * arrays[f"{name}:scale"]
        return rows.reshape(whole.shape)
    inner = (key[len(name) + 1 :] for key in arrays if key.startswith(f"{name}/"))
    below = {key.split("/")[0].split(":")[0] for key in inner}
    if not below:
        raise KeyError(name)
    if all(part.startswith("#") for part in below):
        return [unpacked(arrays, f"{name}/#{place}") for place in range(len(below))]
    return {part: unpacked(arrays, f"{name}/{part}") for part in below}


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file of states; none where there is no file."""
    if not path.is_file():
        return {}
    with np.load(path) as found:
        return dict(found)


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name to one compressed file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
