"""The pairs and prefixes for which a batch asks, under each kind of supervision."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from . import late

Kind = Literal["one", "length", "queries", "every", "last", "inverse"]


class AskedQueries(NamedTuple):
    """The queries of a batch of contexts."""

    sizes: Int[Tensor, "batch asked"]  # pairs n of the prefix that each query sees, 1 to N
    wanted: Int[Tensor, "batch asked"]  # the pair each asks for, 0 to n - 1
    weights: Float[Tensor, " asked"]  # of a context's queries in the loss, with a sum of 1


def draw_queries(
    kind: Kind, batch_size: int, n_pairs: int, *, generator: torch.Generator, skipped: int = 0
) -> AskedQueries:
    """Draw the queries of a batch.

    Args:
        kind: `one` query of the whole context, for any pair, as in §2; `length`, one query of a
            prefix of random length, for any of its pairs; `queries`, N queries of the whole
            context, one for each pair; `every`, a query of each prefix, for any of its pairs;
            `last`, the same for its last pair; `inverse`, as `every` with weights in proportion
            to 1/n.
        batch_size: contexts, >= 1.
        n_pairs: pairs N in a context, >= 1.
        generator: source of the random numbers; its device is that of the batch.
        skipped: how many of the shortest prefixes have no weight, for `every` and `last`.
    """
    device = generator.device
    even = torch.from_numpy(late(n_pairs, skipped)).to(device)
    each = torch.arange(1, n_pairs + 1, device=device)
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
