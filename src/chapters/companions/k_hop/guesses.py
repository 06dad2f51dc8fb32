"""Two ways to guess an end, and what each lets attention learn about which end is right.

One attention head of the query, uniform at first, adds up what facts say in one-hot symbols: the
value of each fact raises a logit and its key lowers one. The gradient of the loss with respect to
the attention logits is taken for each question.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from chapters.companions.retrieval.task import Batch


def pulls(
    batch: Batch, vocabulary: int, *, raised: float, lowered: float
) -> Float[Tensor, "batch chains facts"]:
    """Minus the gradient of each question's loss with respect to its attention to each fact.

    `raised` and `lowered` are by how much all facts together would move the logit of a symbol that
    was the value, or the key, of each. The contexts belong to one run and carry no axis for it.
    """
    values, keys = (one_hot(part, vocabulary).double() for part in (batch.values, batch.keys))
    says = batch.keys.shape[-1] * (raised * values - lowered * keys)
    attention = says.new_zeros(*batch.query.shape, batch.keys.shape[-1], requires_grad=True)
    logits = attention.softmax(dim=-1) @ says
    loss = cross_entropy(logits.flatten(0, 1), batch.target.flatten(), reduction="sum")
    (gradient,) = torch.autograd.grad(loss, attention)
    return -gradient
