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
        query, model, mask: as `theory.emergence_times` takes them, for each prefix.

    Returns:
        The loss and its gradient, at a cost of order N for the last pair and N log N for any pair.

    Raises:
        ValueError: if the query rule, the model or the mask is unknown.
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
