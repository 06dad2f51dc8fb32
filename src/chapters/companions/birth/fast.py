"""Fast loss and gradient: exact, with no vector of length d for any token.

A token is the vector of its coefficients in the basis of `tables`. Before layer 1 two of them
are 1; after it a row has, beyond these, its attention weights and their sums by token. The loss
needs layer 2 at the scored rows only, and T(Xv) replaces (TX)v as in `emergence.fast`. Sequences
are taken in small groups with about as many scored rows, which fit in a cache; gradients add up.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from .coefficients import OneLayer, Rows, TwoLayers
from .model import Frozen, Measured, Trained, from_parts, parts
from .tables import OneLayerTables, Tables, direct, tables
from .task import Batch, rows_of

GROUP = 8  # sequences at once


def loss_and_gradient(frozen: Frozen, trained: Trained, batch: Batch) -> Measured:
    """As `model.loss_and_gradient`; ValueError if no position is scored."""
    free = [part.detach().requires_grad_() for part in parts(trained)]
    with torch.enable_grad():
        own = tables(frozen, from_parts(free))
    present = type(own)(*(part.detach() for part in own))
    loss, accuracy, gradient = table_gradient(present, direct(frozen, len(trained.kq)), batch)
    found = torch.autograd.grad([*own], free, [*gradient])
    return Measured(loss, accuracy, from_parts(found))


@torch.no_grad()
def table_gradient(
    present: Tables | OneLayerTables, straight: Float[Tensor, "N m"], batch: Batch
) -> tuple[float, float, Tables | OneLayerTables]:
    """Loss, accuracy and the gradient with respect to the tables."""
    counts = batch.scored.sum(dim=1)
    total = int(counts.sum())
    if not total:
        raise ValueError("no position of the batch is scored")
    group = (
        TwoLayers(present, straight) if isinstance(present, Tables) else OneLayer(present, straight)
    )
    order = counts.argsort()
    order = order[counts[order] > 0]
    loss, hits = straight.new_zeros(()), counts.new_zeros(())
    for which in order.split(GROUP):
        rows = _rows(Batch(*(part[which] for part in batch)), straight.new_ones(()) / total)
        values = group.forward(batch.tokens[which], rows)
        logp = values.log_softmax(dim=-1)
        chosen = rows.target[..., None]
        loss -= (logp.gather(-1, chosen).squeeze(-1) * rows.weight).sum()
        hits += ((values.argmax(dim=-1) == rows.target) & (rows.weight > 0)).sum()
        pull = logp.exp_()
        pull.scatter_add_(-1, chosen, pull.new_full((), -1).expand(chosen.shape))
        group.backward(pull.mul_(rows.weight[..., None]))
    return float(loss), float(hits / total), group.gradient()


def _rows(batch: Batch, weight: Float[Tensor, ""]) -> Rows:
    """The scored positions, in order."""
    at, real = rows_of(batch.scored)
    return Rows(at, batch.tokens.gather(1, at), batch.targets.gather(1, at), real * weight)
