"""A loss at many positions: means over prefixes (chapter A loss at every position)."""

from typing import get_args

from emergence.models import Mask
from emergence.tasks import Query

from .. import _loss, _reduced
from .._flow import Landscape
from .._loss import Model
from ._weighting import Weighting, compressed, prefixes, weighting

__all__ = ["compressed", "landscape", "weighting"]


def landscape(
    weights: Weighting, query: Query = "last", *, model: Model = "reduced", mask: Mask = "strict"
) -> Landscape:
    """The weighted mean of the losses of all prefixes on orthonormal inputs (this book).

    Args:
        weights: the weight of each prefix n = 1 .. N in the loss, >= 0 with a sum of 1.
        query: which pair of each prefix the query asks for: `last`, or `uniform`, any pair.
        model: `reduced`, the three parameters of §6, or `full`, all 19 of Theorem 1.
        mask: `strict`, where a position does not attend to itself (App. B.2), or `causal`, where it
            does.

    Returns:
        The loss and its gradient at one point at a time, at a cost of order N for the last pair and
        N log N for any pair.

    Raises:
        ValueError: if the query rule, the model or the mask is unknown.

    Example:
        >>> land = positions.landscape(positions.weighting(4, "every"))
        >>> [round(part, 6) for part in land.gradient(0.0, 0.0, 0.0)]  # -H_4/4 by gamma
        [0.0, 0.0, -0.520833]
    """
    known = mask in get_args(Mask), model in get_args(Model), query in get_args(Query)
    if not all(known):
        raise ValueError(
            f"no loss for the mask {mask!r}, the model {model!r} and the query rule {query!r}"
        )
    rule = mask, model, query
    # one by one where a sum over the context serves all prefixes
    used, sizes = (prefixes if rule == ("strict", "full", "last") else compressed)(weights)
    if rule == ("strict", "reduced", "last"):  # the closed form of App. B.3, which is fastest
        return _reduced.landscape_of_prefixes(used, sizes, len(weights))
    blocks = _loss.questions(used, sizes, query, model, mask)
    return _loss.landscape_of_questions(blocks, len(weights))
