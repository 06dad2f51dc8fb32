"""What each look is worth: accuracy when one layer's attention is made uniform, by causal effect.

A look is the attention of a layer's facts, or of its queries. In the last layer only queries look
at anything that reaches an answer. Uniform attention hears the mean of all facts and knows nothing
of the chain; what is left of the accuracy did not need the look.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from .heads import reached
from .model import Answer, Cut, Parameters, forward
from .task import Batch


def looks(n_layers: int) -> tuple[Cut, ...]:
    """Facts and queries of every layer, in order; of the last layer the queries alone."""
    inner = (Cut(layer, rows) for layer in range(1, n_layers) for rows in ("facts", "queries"))
    return (*inner, Cut(n_layers, "queries"))


def accuracy(given: Answer, batch: Batch) -> Float[Tensor, " runs"]:
    """The share of right answers of each run."""
    return (given.logits.argmax(dim=-1) == batch.target).float().mean(dim=(1, 2))


@torch.no_grad()
def cut_accuracies(
    parameters: Parameters, tests: Sequence[Batch], n_heads: int, measured: bool = True
) -> Float[Tensor, "runs looks n_hops"]:
    """Accuracy on each of the tests with each look taken away; no looks unless `measured`."""
    cuts = looks(len(parameters.layers)) if measured else ()
    found = torch.empty(len(parameters.readout), len(cuts), len(tests))
    for place, cut in enumerate(cuts):
        for test, batch in enumerate(tests):
            found[:, place, test] = accuracy(forward(parameters, batch, n_heads, cut), batch).cpu()
    return found


def needed_since(
    moments: Int[np.ndarray, " times"],
    accuracy: Float[np.ndarray, "runs times n_hops"],
    cut: Float[np.ndarray, "runs times looks n_hops"],
    drop: float,
) -> Float[np.ndarray, "runs looks n_hops"]:
    """The first recorded step at which an answer loses `drop` of its accuracy without a look.

    Infinity where it never does: the look never mattered for so many hops.
    """
    return reached(moments, accuracy[:, :, None] - cut, drop)


def by_layer(
    since: Float[np.ndarray, "runs looks n_hops"], n_layers: int
) -> Float[np.ndarray, "runs layers"]:
    """When the first look of each layer is first needed for some answer."""
    layers = np.array([look.layer for look in looks(n_layers)])
    first = since.min(axis=2)
    return np.stack([first[:, layers == n].min(axis=1) for n in range(1, n_layers + 1)], axis=1)
