"""A loss at many positions: means over prefixes (chapter A loss at every position)."""

from emergence.models import Mask
from emergence.tasks import Query

from .._flow import Landscape
from . import _causal as causal
from . import _causal_reduced as causal_reduced
from . import _full as full
from . import _reduced as reduced
from ._weighting import Weighting, compressed, weighting

__all__ = ["compressed", "landscape", "weighting"]

LOSSES = {
    ("strict", "reduced", "last"): reduced.landscape_of_last,
    ("strict", "reduced", "uniform"): reduced.landscape_of_any,
    ("strict", "full", "last"): full.landscape_of_last,
    ("strict", "full", "uniform"): full.landscape_of_any,
    ("causal", "reduced", "last"): causal_reduced.landscape_of_last,
    ("causal", "reduced", "uniform"): causal_reduced.landscape_of_any,
    ("causal", "full", "last"): causal.landscape_of_last,
    ("causal", "full", "uniform"): causal.landscape_of_any,
}


def landscape(
    weights: Weighting, query: Query = "last", *, model: str = "reduced", mask: Mask = "strict"
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
    if (mask, model, query) not in LOSSES:
        raise ValueError(
            f"no loss for the mask {mask!r}, the model {model!r} and the query rule {query!r}"
        )
    return LOSSES[mask, model, query](weights)
