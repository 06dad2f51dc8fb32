"""An explicit network with hard-wired weights that attains the count of `spans`.

A token's state is two one-hot symbols, the ends of the span that it knows (`spans`). One head looks
for the fact whose span begins where its own ends and takes over that far end; a second one, left
out in `forward` merging, does the same in the other direction. A token that finds nobody keeps what
it has: it looks at a place that is always there and is half as strong as a match.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot, pad

from .spans import Merging
from .task import Batch

OneHot = Float[Tensor, "batch length vocabulary"]


def arrive(
    batch: Batch, n_layers: int, merging: Merging, *, vocabulary: int, sharpness: float = 60.0
) -> Int[Tensor, "batch chains"]:
    """The symbol at which each query arrives; `sharpness` is the score of a match, in logits."""
    n_facts = batch.keys.shape[1]

    def symbols(of_facts: Int[Tensor, "batch facts"]) -> OneHot:
        return one_hot(torch.cat([of_facts, batch.query], dim=1), vocabulary).double()

    def taken_over(end: OneHot, other_end: OneHot) -> OneHot:
        """Each token's end after looking for facts whose other end it is."""
        found = end @ other_end[:, :n_facts].mT
        weights = (sharpness * pad(found, (0, 1), value=0.5)).softmax(dim=-1)
        return weights[..., :-1] @ end[:, :n_facts] + weights[..., -1:] * end

    low, high = symbols(batch.values), symbols(batch.keys)
    for _ in range(n_layers):
        ahead = taken_over(low, high)
        high = taken_over(high, low) if merging == "both" else high
        low = ahead
    return low[:, n_facts:].argmax(dim=-1)
