"""The CatFormer of Nichani et al. (arXiv 2402.14735) and Eq. 1, trained on the same batches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from emergence import models, tasks
from emergence.models import Weights
from running import devices

from .programs import first, program

CATFORMER = {
    "n_pairs": 4, "vocabulary": 12, "positions": 9, "batch_size": 256, "steps": 500,
    "learning_rate": 8.0, "seed": 0,
}  # fmt: skip


def catformer(settings: Mapping[str, Any] = CATFORMER) -> dict[str, Any]:
    """Both disentangled transformers by gradient descent from zero, in double precision.

    Args:
        settings: those of `CATFORMER`; tokens and positions are one-hot.

    Returns:
        Gaps of the losses, the first step at which each loss is half of ln N, and both losses.

    Raises:
        NotMeasured: as `program`.
    """
    theirs = program("catformer")["CatFormer"]
    import jax
    import jax.numpy as jnp

    vocabulary, positions = settings["vocabulary"], settings["positions"]
    width, rate = vocabulary + positions, settings["learning_rate"]
    shapes = ((width, width), (2 * width, 2 * width), (4 * width, vocabulary))
    ours = Weights(*(torch.zeros(s, dtype=torch.float64, requires_grad=True) for s in shapes))
    stream = devices.generator(settings["seed"], torch.device("cpu"))
    losses: dict[str, list[float]] = {"theirs": [], "ours": []}
    with jax.enable_x64(True):
        network = theirs(positions, vocabulary, [1, 1])

        def loss_of(network: Any, tokens: Any, target: Any) -> Any:
            shares = jax.vmap(network)(tokens)
            return -jnp.log(shares[jnp.arange(len(target)), target]).mean()

        slope = jax.jit(jax.value_and_grad(loss_of))
        for _ in range(settings["steps"]):
            batch = tasks.token_pairs(
                settings["batch_size"], settings["n_pairs"], vocabulary, positions, generator=stream
            )
            loss, by_part = slope(network, batch.tokens.numpy(), batch.target.numpy())
            losses["theirs"].append(float(loss))
            network = jax.tree_util.tree_map(lambda x, y: x - rate * y, network, by_part)
            rows = [torch.eye(size, dtype=torch.float64) for size in (vocabulary, positions)]
            inputs = torch.cat([rows[0][batch.tokens], rows[1][batch.positions]], dim=-1)
            loss = cross_entropy(
                models.disentangled_output(ours, inputs, mask="causal"), batch.target
            )
            losses["ours"].append(loss.item())
            with torch.no_grad():
                for part, by in zip(ours, torch.autograd.grad(loss, tuple(ours)), strict=True):
                    part -= rate * by
    gap = np.abs(np.subtract(losses["theirs"], losses["ours"]))
    level = np.log(settings["n_pairs"]) / 2
    return {
        "loss_gap_first_60": float(gap[:60].max()),
        "loss_gap": float(gap.max()),
        "half_ln_n_at": {name: first(np.array(path) <= level) for name, path in losses.items()},
        "loss": {"every": 25} | {name: path[::25] for name, path in losses.items()},
    }
