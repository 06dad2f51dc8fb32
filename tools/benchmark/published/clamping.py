"""The trainer of Singh et al. (arXiv 2404.07129), which clamps parameters, and our descent.

Theirs is given the reduced loss of App. B.3, and ours is given their toy loss.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from emergence import theory
from emergence.theory import Rates

from .programs import first, gap_of, program

PARAMETERS = ("alpha", "beta", "gamma")
CLAMPING = {
    "n_pairs": 8, "steps": 300, "learning_rate": 1.0,
    "clamped_at": {"alpha": 12.0, "beta": 1.0, "gamma": 1.0},
}  # fmt: skip
TOY = {"dim": 20, "seed": 1, "steps": 1000, "learning_rate": 1.0}
SHARES = (0.9, 0.5, 0.1)  # of the first loss


def clamping(settings: Mapping[str, Any] = CLAMPING) -> dict[str, Any]:
    """The reduced loss by their trainer and by our descent, one parameter clamped or none.

    Args:
        settings: those of `CLAMPING`.

    Returns:
        For each clamped parameter the worst gaps, and the first step at which
        each parameter is 0.5.

    Raises:
        NotMeasured: as `program`.
    """
    train = program("clamping")["train"]
    import jax
    import jax.numpy as jnp

    n_pairs, clamped_at = settings["n_pairs"], settings["clamped_at"]

    def loss_of(point: Mapping[str, Any]) -> Any:
        """App. B.3 from both attentions: 1 on the right place, equal shares on its rivals."""
        scores = point["alpha"] * jnp.eye(1, 2 * n_pairs - 1)[0]
        found = jax.nn.softmax(scores)[0]
        share = jax.nn.softmax(point["beta"] * found * jnp.eye(1, 2 * n_pairs)[0])
        return jnp.sum((point["gamma"] * share - jnp.eye(1, 2 * n_pairs)[0]) ** 2)

    runs = {}
    with jax.enable_x64(True):
        for clamped in ("nothing", *PARAMETERS):
            fixed = {name: value for name, value in clamped_at.items() if name == clamped}
            setup = {
                "init": dict.fromkeys(PARAMETERS, jnp.float64(0.0)),
                "loss_fn": loss_of,
                "track_fns": {name: lambda point, name=name: point[name] for name in PARAMETERS},
            }
            tracked = train(
                setup, lambda _, point, fixed=fixed: point | fixed, settings["steps"],
                settings["learning_rate"], thresh=0,
            )  # fmt: skip
            path = theory.descent_in(
                theory.landscape_of(n_pairs), settings["steps"],
                rates=Rates(*(0.0 if name in fixed else 1.0 for name in PARAMETERS)),
                start=tuple(fixed.get(name, 0.0) for name in PARAMETERS),
            )  # fmt: skip
            theirs = {name: np.array(tracked[name]) for name in PARAMETERS}
            ours = {name: getattr(path, name)[: settings["steps"]] for name in PARAMETERS}
            losses = np.array(tracked["Train loss"]), path.loss[: settings["steps"]]
            runs[clamped] = {
                "parameters": max(gap_of(theirs[name], ours[name]) for name in PARAMETERS),
                "loss": gap_of(*losses),
                "theirs": {name: first(theirs[name] >= 0.5) for name in PARAMETERS},
                "ours": {name: first(ours[name] >= 0.5) for name in PARAMETERS},
            }
    return runs


def toy(settings: Mapping[str, Any] = TOY) -> dict[str, Any]:
    """Their toy loss, a product of three vectors, by their trainer and by descent in closed form.

    Args:
        settings: those of `TOY`; theirs are single precision, ours double, from the same start.

    Returns:
        For each set of clamped vectors the first steps at which a share of the loss is left, and
        the worst gap of the losses as a share of their first.

    Raises:
        NotMeasured: as `program`.
    """
    theirs = program("clamping")
    import jax

    runs = {}
    with jax.enable_x64(False):
        setup = theirs["make_rank_1_three_vecs_setup"]([settings["dim"]] * 3, settings["seed"])
        for clamped in ((), ("c",), ("b", "c")):
            clamp = partial(theirs["clamp_rank_1"], clamp=dict.fromkeys(clamped, settings["dim"]))
            tracked = theirs["train"](
                setup | {"track_fns": {}}, clamp, settings["steps"], settings["learning_rate"], 0
            )
            losses = {
                "theirs": np.array(tracked["Train loss"], dtype=float),
                "ours": _product_losses(setup, clamped, settings),
            }
            fell = {
                name: {str(share): first(path <= share * path[0]) for share in SHARES}
                for name, path in losses.items()
            }
            gap = gap_of(*losses.values()) / float(losses["theirs"][0])
            runs[", ".join(clamped) or "nothing"] = fell | {"gap": gap}
    return runs


def _product_losses(
    setup: Mapping[str, Any], clamped: Sequence[str], settings: Mapping[str, Any]
) -> np.ndarray:
    """The losses of descent on half the mean squared error of a product of three vectors."""
    true, point = (
        {name: np.array(value, dtype=float) for name, value in setup[which].items()}
        for which in ("true", "init")
    )
    point |= {name: true[name] for name in clamped}
    target = np.einsum("i,j,k->ijk", *true.values())
    contracted = {"a": "ijk,j,k->i", "b": "ijk,i,k->j", "c": "ijk,i,j->k"}
    losses = []
    for _ in range(settings["steps"]):
        error = np.einsum("i,j,k->ijk", *point.values()) - target
        losses.append(0.5 * np.mean(error**2))
        slopes = {
            name: np.einsum(rule, error, *(point[other] for other in point if other != name))
            for name, rule in contracted.items()
        }
        for name in point.keys() - set(clamped):
            point[name] = point[name] - settings["learning_rate"] * slopes[name] / error.size
    return np.array(losses)
