"""How strongly trained layers attend to the previous position and to what followed the trigger."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from . import memories
from .model import Frozen, Trained, forward
from .task import Batch, Task


class Focus(NamedTuple):
    """Attention of the two layers where the circuit needs it; means over positions.

    The source's code logs the two of argmax type, `previous_top` and `match_top`.
    """

    previous: float  # layer 1, one position after a scored trigger: share on the trigger
    previous_top: float  # how often the trigger has the greatest share
    match: float  # layer 2, at a scored trigger: share on what followed it earlier
    match_top: float  # how often one of these positions has the greatest share


def followers(tokens: Int[Tensor, "batch T"]) -> Bool[Tensor, "batch T T"]:
    """For each position, those up to it that an earlier occurrence of its token precedes."""
    before = torch.nn.functional.pad(tokens[:, :-1], (1, 0), value=-1)
    return (tokens[:, :, None] == before[:, None, :]).tril()


def focus(
    frozen: Frozen,
    trained: Trained,
    tokens: Int[Tensor, "batch T"],
    scored: Bool[Tensor, "batch T"],
) -> Focus:
    """How much attention of two layers is where the circuit needs it; NaN if nothing is scored."""
    first, second = forward(frozen, trained, tokens)[1]
    wanted = followers(tokens)
    before, triggers = first[:, 1:], scored[:, :-1]
    top = before.argmax(dim=2) == torch.arange(scored.shape[1] - 1, device=scored.device)
    greatest = wanted.gather(2, second.argmax(dim=2, keepdim=True)).squeeze(2)
    return Focus(
        float(before.diagonal(dim1=1, dim2=2)[triggers].mean()),
        float(top[triggers].double().mean()),
        float((second * wanted).sum(dim=2)[scored].mean()),
        float(greatest[scored].double().mean()),
    )


@dataclass(frozen=True)
class RecallsAndFocus:
    """A reader for `training.train`: `memories.Recalls`, `Focus` on some sequences, and a ninth.

    The last is the recall of W_KQ^2 weighted by the frequency of tokens. The sequences are plain
    numbers, for a reader is part of the name of what it reads.
    """

    tokens: tuple[tuple[int, ...], ...]
    scored: tuple[tuple[bool, ...], ...]
    frequency: tuple[float, ...]

    @classmethod
    def of(cls, task: Task, batch: Batch) -> "RecallsAndFocus":
        """The reader of these sequences."""
        return cls(
            tuple(map(tuple, batch.tokens.tolist())),
            tuple(map(tuple, batch.scored.tolist())),
            tuple(task.frequency[task.triggers].tolist()),
        )

    @torch.no_grad()
    def __call__(
        self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
    ) -> tuple[float, ...]:
        """What is read at one step."""
        tokens = torch.tensor(self.tokens, device=frozen.e.device)
        scored = torch.tensor(self.scored, device=frozen.e.device)
        looks = focus(frozen, trained, tokens, scored)
        weights = torch.tensor(self.frequency, device=frozen.e.device)
        weighted = memories.matched(frozen, trained, triggers, weights)
        return (*memories.recalls(frozen, trained, triggers), *looks, weighted)
