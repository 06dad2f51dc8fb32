"""The stretches of a descent on a GPU: done once, recorded, replayed, and put back if need be."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .graphs import Recorder, Repeated

LONGEST, SHORTEST = 32, 8  # steps of a stretch, where rows are rarer than that

Step = Callable[..., tuple[Tensor, tuple[Tensor, ...] | None]]
Rows = list[tuple[Any, ...]]


def lengths(total: int, every: int, at: int) -> list[int]:
    """The numbers of steps of stretches that may begin at a step, a longer and a shorter one."""
    # The longer one balances waits against steps that are not replayed; the other is for what is
    # left before a stop. Rows are at multiples of `every`; where they are rare, few stretches have
    # any.
    short = every
    if every > LONGEST:
        short = next((n for n in range(LONGEST, SHORTEST - 1, -1) if every % n == 0), every)
    wanted = min(LONGEST, (total / 25) ** 0.5)
    return [short * max(1, round(wanted / short)), short] if at % short == 0 else []


class Stretches:
    """Stretches of a descent, each kind of them repeated: done once, recorded, replayed."""

    def __init__(
        self,
        record: Recorder,
        step: Step,
        leaves: list[Any],
        every: int,
        draw: Callable[[], tuple[Tensor, ...]] | None,
        label: str,
    ) -> None:
        self.record, self.step, self.every = record, step, every
        self.draw, self.label = draw, label
        kinds = Tensor | torch.Generator | torch.optim.Optimizer
        self.leaves = [leaf for leaf in leaves if isinstance(leaf, kinds)]
        self.streams = [leaf for leaf in leaves if isinstance(leaf, torch.Generator)]
        self.kinds: dict[Hashable, Repeated] = {}
        self.batches: dict[int, list[Tensor]] = {}  # of a stretch, by its length

    def run(
        self,
        at: int,
        length: int,
        phase: tuple[Any, ...],
        ended: Callable[[], bool | Tensor] | None,
    ) -> Rows | None:
        """Its rows; None where nothing has been done, for it has to be walked."""
        before = [_copy(leaf) for leaf in self.leaves]
        if self.draw:
            self._fill(length)
        kind = length, at % self.every == 0, phase
        if kind not in self.kinds:
            work = partial(self._work, *kind)
            self.kinds[kind] = Repeated(self.record, work, self.streams, self.label)
        sound, columns = self.kinds[kind]()
        if not bool(~sound | (ended() if ended else False)):  # the one wait
            parts = zip(*(column.clone().unbind() for column in columns), strict=True)
            return [(at + self.every * place, *row) for place, row in enumerate(parts)]
        for leaf, state in zip(self.leaves, before, strict=True):
            _put_back(leaf, state)
        return None

    def _work(
        self, length: int, recorded: bool, phase: tuple[Any, ...]
    ) -> tuple[Tensor, list[Tensor]]:
        """Whether all losses are finite, and the rows by columns."""
        losses, rows = [], []
        for j in range(length):
            batch = (part[j] for part in self.batches.get(length, ()))
            loss, row = self.step(recorded and j % self.every == 0, *phase, *batch)
            losses.append(loss)
            if row is not None:
                rows.append(row)
        columns = [torch.stack(column) for column in zip(*rows, strict=True)]
        return torch.isfinite(torch.stack(losses)).all(), columns

    def _fill(self, length: int) -> None:
        """Draw the batches of a stretch, always into the same arrays."""
        drawn = zip(*(self.draw() for _ in range(length)), strict=True) if self.draw else ()
        fresh = [torch.stack(part) for part in drawn]
        for old, new in zip(self.batches.setdefault(length, fresh), fresh, strict=True):
            old.copy_(new)


def _copy(leaf: Any) -> Any:
    """What a stretch may change, on its device."""
    if isinstance(leaf, Tensor):
        return leaf.detach().clone()
    if isinstance(leaf, torch.Generator):
        return leaf.get_state()
    return {
        part: {name: _copy(v) if isinstance(v, Tensor) else v for name, v in moments.items()}
        for part, moments in leaf.state.items()
    }


def _put_back(leaf: Any, state: Any) -> None:
    """Put it back in place, for a recording knows addresses."""
    if isinstance(leaf, torch.Generator):
        leaf.set_state(state)
        return
    if isinstance(leaf, Tensor):
        with torch.no_grad():
            leaf.copy_(state)
        return
    for part in [part for part in leaf.state if part not in state]:
        del leaf.state[part]  # as it was before the first step
    for part, moments in state.items():
        for name, value in moments.items():
            if isinstance(value, Tensor):
                leaf.state[part][name].copy_(value)
