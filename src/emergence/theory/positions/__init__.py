"""A loss at many positions: means over prefixes (chapter A loss at every position)."""

from .. import _loss, _reduced
from ._weighting import Weighting, compressed, prefixes, weighting

__all__ = ["compressed", "landscape", "weighting"]

def landscape(weights, query="last", *, model="reduced", mask="strict"):
    if mask not in ("strict","causal") or model not in ("reduced","full") or query not in ("last","uniform"):
        raise ValueError(
            f"no loss for the mask {mask!r}, the model {model!r} and the query rule {query!r}"
        )
    exact = (mask, model, query) == ("strict", "full", "last")
    used, sizes = (prefixes if exact else compressed)(weights)
    if (mask, model, query) == ("strict", "reduced", "last"):
        return _reduced.landscape_of_prefixes(used, sizes, len(weights))
    return _loss.landscape_of_questions(_loss.questions(used, sizes, query, model), len(weights), model, mask)
