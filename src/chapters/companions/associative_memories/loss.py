"""Cross-entropy of logits h u' and its gradient by h, written out: several times autograd's speed.

The logits are the largest arrays of both companions that use this. Here they are made in blocks
small enough for a processor's cache, and overwritten in place.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

BLOCK = 2**19  # logits held at once
FLOOR = -60.0  # exp of less would end in denormal numbers, which are slow, and is nothing


class Scored(NamedTuple):
    """Mean loss of each run, its gradient by h, and which rows have their target on top."""

    loss: Float[Tensor, " runs"]
    gradient: Float[Tensor, "runs n d"]
    right: Bool[Tensor, "runs n"]


@torch.no_grad()
def scored(
    h: Float[Tensor, "runs n d"], u: Float[Tensor, "runs k d"], target: Int[Tensor, "runs n"]
) -> Scored:
    """Softmax cross-entropy of the logits h u'. A tie with the target counts against it."""
    runs, n, _ = h.shape
    losses, gradients, rights = [], [], []
    for rows in range(0, n, size := max(1, BLOCK // (runs * u.shape[1]))):
        own = target[:, rows : rows + size, None]
        logits = h[:, rows : rows + size] @ u.mT
        wanted = logits.gather(2, own)
        others = logits.scatter_(2, own, -torch.inf).amax(2, keepdim=True)
        top = torch.maximum(wanted, others)
        weights = logits.sub_(top).clamp_(min=FLOOR).exp_()  # nothing at the target
        rest = weights.sum(2, keepdim=True)
        at_target = (wanted - top).exp()
        total = rest + at_target
        losses.append((total.log() + top - wanted).sum((1, 2)))
        rights.append((wanted > others)[..., 0])
        weights.scatter_(2, own, -rest).div_(total * n)  # -rest/total is p - 1 without cancelling
        gradients.append(weights @ u)
    return Scored(sum(losses, h.new_zeros(())) / n, torch.cat(gradients, 1), torch.cat(rights, 1))
