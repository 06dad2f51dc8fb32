"""States of trainings near their ends: kept while they run, packed small, and gone on from."""

from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch

from emergence.running.cache import Cache, Checkpoint, Task

LARGE = 1000  # numbers; tensors with more are kept with 16 bits a number


class Keeping(Cache, Checkpoint):
    """Copies a state of each training, `back` steps before its end or up to twice as many."""

    def __init__(self, back: int) -> None:
        self.back, self.count = back, 0
        self.states: list[dict[str, Any]] = []
        self.last: deque[dict[str, Any]] = deque(maxlen=2)

    def checkpoint(self, task: Task) -> Checkpoint:
        self.count = 0
        self.last.clear()
        return self

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        self.count += 1
        if ended:
            self.states.append(self.last[0] if self.last else deepcopy(state()))
        elif self.back and self.count % self.back == 0:
            self.last.append(deepcopy(state()))


class Resuming(Cache, Checkpoint):
    """Lets trainings go on, each from one of some states, in their order."""

    def __init__(self, states: list[dict[str, Any]]) -> None:
        self.states = iter(states)

    def checkpoint(self, task: Task) -> Checkpoint:
        return self

    def load(self) -> dict[str, Any]:
        return next(self.states)


def state_arrays(value: Any, name: str) -> dict[str, np.ndarray]:
    """A state as arrays by name."""
    if isinstance(value, list | tuple):
        value = {f"#{place}": part for place, part in enumerate(value)}
    if isinstance(value, dict):
        parts = (state_arrays(part, f"{name}/{key}") for key, part in value.items())
        return {key: array for part in parts for key, array in part.items()}
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > LARGE:
        return {f"{name}:16": value.detach().bfloat16().view(torch.int16).numpy()}
    return {name: np.asarray(value.detach() if isinstance(value, torch.Tensor) else value)}


def unpacked(arrays: Mapping[str, np.ndarray], name: str) -> Any:
    """The value that `state_arrays` took apart; an empty list where there is none."""
    if name in arrays:
        array = arrays[name]
        return array.item() if array.ndim == 0 and array.dtype.kind in "iub" else array
    if f"{name}:16" in arrays:
        return torch.tensor(arrays[f"{name}:16"]).view(torch.bfloat16).float().numpy()
    if f"{name}:8" in arrays:  # of earlier states, with a scale a row
        whole = arrays[f"{name}:8"]
        rows = whole.reshape(-1, whole.shape[-1]).astype(np.float32) * arrays[f"{name}:scale"]
        return rows.reshape(whole.shape)
    inner = (key[len(name) + 1 :] for key in arrays if key.startswith(f"{name}/"))
    below = {key.split("/")[0].split(":")[0] for key in inner}
    if all(part.startswith("#") for part in below):
        return [unpacked(arrays, f"{name}/#{place}") for place in range(len(below))]
    return {part: unpacked(arrays, f"{name}/{part}") for part in below}
