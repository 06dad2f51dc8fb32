"""Does attention attain the count? An explicit network with hard-wired weights.

A token's state is two one-hot symbols, the ends of the span that it knows (`spans`), and its own
key. One head looks for the token whose span begins where its own ends and takes over that far end;
a second one, left out in `forward` merging, does the same in the other direction. A token that
finds nobody looks at itself. The query is found by nobody: it keeps its symbol in a place of its
own, which heads use to look and not to be found.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from .spans import Merging
from .task import Batch

OneHot = Float[Tensor, "batch length vocabulary"]


def follow(
    batch: Batch, n_layers: int, merging: Merging, *, vocabulary: int, sharpness: float = 60.0
) -> Int[Tensor, " batch"]:
    """The symbol at which each query arrives; `sharpness` is the score of a match, in logits."""
    missing = torch.full_like(batch.query[:, None], vocabulary)  # a symbol that no fact has
    own = one_hot(torch.cat([batch.keys, missing], dim=1), vocabulary + 1).double()

    def symbols(of_facts: Int[Tensor, "batch facts"]) -> OneHot:
        return one_hot(torch.cat([of_facts, batch.query[:, None]], dim=1), vocabulary).double()

    low, high = symbols(batch.values), symbols(batch.keys)
    itself = own @ own.mT / 2  # half as strong as a match
    for _ in range(n_layers):
        ahead = (sharpness * (_found(low, high) + itself)).softmax(dim=-1)
        behind = (sharpness * (_found(high, low) + itself)).softmax(dim=-1)
        low, high = ahead @ low, behind @ high if merging == "both" else high
    return low[:, -1].argmax(dim=-1)


def _found(looked_for: OneHot, offered: OneHot) -> Float[Tensor, "batch length length"]:
    hidden = torch.zeros_like(offered[:, -1:])
    return looked_for @ torch.cat([offered[:, :-1], hidden], dim=1).mT
