"""Supervision at many positions: the queries of the prefixes of a context, and their answers."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.models import Mask, Weights, allowed_positions, apply, attention

Kind = Literal["one", "length", "queries", "every", "last", "inverse"]


class AskedQueries(NamedTuple):
    """The queries of a batch of contexts (chapter A loss at every position).

    Attributes:
        sizes: pairs n of the prefix that each query sees, 1 to N.
        wanted: the pair that each asks for, 0 to n - 1.
        weights: of a context's queries in the loss, with a sum of 1.
    """

    sizes: Int[Tensor, "batch asked"]
    wanted: Int[Tensor, "batch asked"]
    weights: Float[Tensor, " asked"]


def draw_queries(
    kind: Kind, batch_size: int, n_pairs: int, *, generator: torch.Generator, skipped: int = 0
) -> AskedQueries:
    """Draw the queries of a batch (chapter A loss at every position).

    Args:
        kind: `one` query of the whole context, for any pair, as in §2; `length`, one query of a
            prefix of random length, for any of its pairs; `queries`, N queries of the whole
            context, one for each pair; `every`, a query of each prefix, for any of its pairs;
            `last`, the same for its last pair; `inverse`, as `every` with weights that go as 1/n.
        batch_size: contexts, >= 1.
        n_pairs: pairs N in a context, >= 1.
        generator: source of the random numbers; its device is that of the batch.
        skipped: how many of the shortest prefixes have no weight, for `every` and `last`.

    Returns:
        Which prefix each query sees, which pair it asks for, and its weight in the loss.
    """
    device = generator.device
    each = torch.arange(1, n_pairs + 1, device=device)
    even = (each > skipped).double()
    even /= even.sum()
    if kind == "queries":
        sizes = torch.full_like(each, n_pairs).expand(batch_size, -1)
        return AskedQueries(sizes, (each - 1).expand(batch_size, -1), even)
    if kind == "one":
        sizes = torch.full((batch_size, 1), n_pairs, device=device)
    elif kind == "length":
        sizes = torch.randint(1, n_pairs + 1, (batch_size, 1), generator=generator, device=device)
    else:
        sizes = each.expand(batch_size, -1)
    if kind == "last":
        return AskedQueries(sizes, sizes - 1, even)
    chance = torch.rand(sizes.shape, generator=generator, device=device, dtype=torch.float64)
    wanted = (chance * sizes).long()
    if kind == "inverse":
        weights = 1 / each.double()
        return AskedQueries(sizes, wanted, weights / weights.sum())
    return AskedQueries(sizes, wanted, even if kind == "every" else even.new_ones(1))


def prefix_output(
    weights: Weights,
    context: Float[Tensor, "*runs batch length width"],
    queries: Float[Tensor, "*runs batch asked width"],
    sizes: Int[Tensor, "*runs batch asked"],
    mask: Mask = "strict",
) -> Float[Tensor, "*runs batch asked dim"]:
    """The prediction of Eq. 1 for the queries of prefixes (chapter A loss at every position).

    A query sees the first 2n rows of the context, and under the causal mask itself as well.

    Args:
        weights: the 28 D^2 weights, of one network or of several runs.
        context: rows of 2N items and labels (Eq. 3), of each run its own.
        queries: rows that ask, with an item and no position.
        sizes: pairs n of the prefix that each query sees, 1 to N.
        mask: `strict`, without the position itself (App. B.2), or `causal`, with it.

    Returns:
        A prediction for each query.
    """
    rows = torch.arange(context.shape[-2], device=context.device)
    seen = rows < 2 * sizes[..., None]
    # The context's rows do not see the queries, so one pass of layer 1 serves all of these.
    allowed = allowed_positions(context.shape[-2], mask, context.device)
    pattern = attention(apply(context, weights.w1) @ context.mT, allowed)
    attended = _retrieved(weights.w1, queries, context, seen, mask)
    stream = torch.cat([context, pattern @ context], dim=-1)
    query = torch.cat([queries, attended], dim=-1)
    retrieved = _retrieved(weights.w2, query, stream, seen, mask)
    return apply(torch.cat([query, retrieved], dim=-1), weights.w3)


def _retrieved(
    weight: Float[Tensor, "*runs width width"],
    queries: Float[Tensor, "*runs batch asked width"],
    rows: Float[Tensor, "*runs batch length width"],
    seen: Bool[Tensor, "*runs batch asked length"],
    mask: Mask,
) -> Float[Tensor, "*runs batch asked width"]:
    """What each query retrieves from the rows that it sees, at least two, and perhaps itself."""
    asked_for = apply(queries, weight)
    scores = (asked_for @ rows.mT).masked_fill(~seen, -torch.inf)
    if mask == "strict":
        return scores.softmax(dim=-1) @ rows
    own_score = (asked_for * queries).sum(dim=-1, keepdim=True)
    share = torch.cat([scores, own_score], dim=-1).softmax(dim=-1)
    return share[..., :-1] @ rows + share[..., -1:] * queries
