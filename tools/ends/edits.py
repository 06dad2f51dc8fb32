"""Edits at the ends of stored runs, as a forger makes them: one number is another."""

import copy
import random
from typing import Any, NamedTuple

from .compare import End, leaves


class Edit(NamedTuple):
    """One number of a result that is changed: its way there, what is stored, what is forged."""

    path: tuple[Any, ...]
    before: float
    after: float


def drawn(end: End, result: Any, dice: random.Random) -> Edit:
    """An edit of a random number of those that an end has; ValueError where it has none.

    The number moves by a tenth of itself, at least by three times what another processor may
    change: up, or down where a share would pass 1.
    """
    numbers = [(path, value) for path, value in leaves(result) if type(value) in (int, float)]
    for path, value in dice.sample(numbers, len(numbers)):
        made = Edit(path, value, _moved(end, value))
        if end.pick(forged(result, made)) != end.pick(result):
            return made
    raise ValueError(f"{end.name} has no number at its end")


def forged(result: Any, edit: Edit) -> Any:
    """A copy of a result with an edit in it."""
    made = copy.deepcopy(result)
    inside = made
    for name in edit.path[:-1]:
        inside = inside[name]
    inside[edit.path[-1]] = edit.after
    return made


def _moved(end: End, value: float) -> float:
    step = max(0.1 * abs(value), 3 * end.slack(value))
    if isinstance(value, int):
        return value + max(1, round(step))
    share = 0 <= value <= 1
    return round(value - step if share and value + step > 1 else value + step, 6)
