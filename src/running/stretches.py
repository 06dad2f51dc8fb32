"""The stretches of a descent on a GPU: done once, recorded, replayed, and put back if need be."""

import logging
from collections.abc import Callable, Hashable
from typing import Any

import torch
from torch import Tensor

from .graphs import Recorded, Recorder

logger = logging.getLogger(__name__)
LONGEST, SHORTEST = 32, 8  # steps of a stretch, where rows are rarer than that
stepwise: list[str] = []  # descents of this process whose steps could not be recorded

Step = Callable[..., tuple[Tensor, tuple[Tensor, ...] | None]]
Rows = list[tuple[Any, ...]]


def lengths(total: int, every: int, at: int) -> list[int]:
    """The numbers of steps of stretches that may begin at a step, a longer and a shorter one.

    The longer one balances waits against steps that are not replayed; the other is for what is left
    before a stop. Rows are at multiples of `every`; where these are rare, most stretches have none.
    """
    short = every
    if every > LONGEST:
        short = next((n for n in range(LONGEST, SHORTEST - 1, -1) if every % n == 0), every)
    wanted = min(LONGEST, (total / 25) ** 0.5)
    return [short * max(1, round(wanted / short)), short] if at % short == 0 else []


class Stretches:
    """Stretches of a descent: of each kind the first is done, the second recorded, then replayed.

    Args:
        record: as from `graphs.recorder`.
        step: of the descent, as `loop.descend` takes it.
        leaves: all that a step changes, with tuples taken apart.
        every: number of steps between rows.
        draw: as `loop.descend` takes it.
        label: what messages call the descent.
    """

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
        self.taken: dict[Hashable, Recorded | None] = {}
        self.batches: dict[int, list[Tensor]] = {}  # of a stretch, by its length
        self.refused = False

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
        with self.record.timed():
            results = self._results((length, at % self.every == 0, phase))
        if results is not None:
            sound, columns = results
            if not bool(~sound | (ended() if ended else False)):  # the one wait
                parts = zip(*(column.clone().unbind() for column in columns), strict=True)
                return [(at + self.every * place, *row) for place, row in enumerate(parts)]
        for leaf, state in zip(self.leaves, before, strict=True):
            _put_back(leaf, state)
        return None

    def _results(self, kind: tuple[int, bool, tuple[Any, ...]]) -> Any:
        if kind not in self.taken:
            self.taken[kind] = None
            return self._work(kind)
        recorded = self.taken[kind]
        if recorded is None:
            try:
                recorded = self.record(lambda: self._work(kind), self.streams)
            except RuntimeError as error:
                return self._refuse(error)
            self.taken[kind] = recorded
        recorded.replay()
        return recorded.results

    def _work(self, kind: tuple[int, bool, tuple[Any, ...]]) -> tuple[Tensor, list[Tensor]]:
        """Whether all losses are finite, and the rows by columns."""
        length, recorded, phase = kind
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

    def _refuse(self, error: RuntimeError) -> None:
        """Say so, and mend streams that the failed capture may have left in its hands."""
        self.refused = True
        stepwise.append(self.label)
        reason = str(error.__context__ or error).partition("\n")[0]
        logger.warning(
            "%s walks step by step on this GPU: its step could not be recorded (%s). "
            "The numbers are the same, the time is not.", self.label, reason,
        )  # fmt: skip
        for stream in self.streams:
            stream.graphsafe_set_state(torch.Generator(stream.device).graphsafe_get_state())


def _copy(leaf: Any) -> Any:
    """What a stretch may change, on its device."""
    if isinstance(leaf, Tensor):
        return leaf.detach().clone()
    if isinstance(leaf, torch.Generator):
        return leaf.get_state()
    return {
        part: {name: _copy(v) if isinstance(v, Tensor) else v for name, v in own.items()}
        for part, own in leaf.state.items()
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
    for part, own in state.items():
        for name, value in own.items():
            if isinstance(value, Tensor):
                leaf.state[part][name].copy_(value)
