"""Other people's libraries as witnesses: python -m tools.benchmark.witnesses writes their figures.

TransformerLens trains §2's transformer from our weights on our batches. diffrax, with derivatives
by JAX, integrates the flow of the three parameters; its loss is written out position by position,
and shares no line with the closed forms. Both need `pip install -r requirements.peers.lock`.
"""

import json
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from scipy.optimize import brentq
from torch.nn.functional import cross_entropy

from emergence import tasks, theory
from emergence.models import AttentionOnlyTransformer
from emergence.tasks import Query
from running import devices

STORED = Path(__file__).parents[2] / "data" / "peers" / "libraries.json"
FLOWS: tuple[tuple[Query, int], ...] = (
    ("last", 8), ("last", 16), ("uniform", 8),
)  # fmt: skip


class NotMeasured(Exception):
    """Why something could not be measured."""


@dataclass(frozen=True)
class Lens:
    """The settings of the training by TransformerLens; double precision."""

    dim: int = 66
    vocabulary: int = 16
    n_pairs: int = 4
    batch_size: int = 128
    steps: int = 120
    learning_rate: float = 5e-3
    embedding_scale: float = 0.5
    seed: int = 0


def lens(case: Lens) -> dict[str, Any]:
    """Both trainings with AdamW: the worst relative gaps, and when each loss is half of ln N.

    Raises NotMeasured where TransformerLens is not installed.
    """
    stream = devices.generator(case.seed, torch.device("cpu"))
    length = 2 * case.n_pairs + 1
    ours = AttentionOnlyTransformer(
        case.dim, case.vocabulary, length, embedding_scale=case.embedding_scale, generator=stream
    )
    theirs = _as_hooked(ours, length).double()
    ours.double()
    models: dict[str, Callable[[tasks.TokenBatch], torch.Tensor]] = {
        "ours": lambda batch: ours(batch.tokens, batch.positions)[:, -1],
        "theirs": lambda batch: theirs(batch.tokens)[:, -1],
    }
    weights = {
        "ours": list(ours.parameters()),
        "theirs": [part for part in theirs.parameters() if part.requires_grad],
    }
    optimisers = {
        name: torch.optim.AdamW(parts, lr=case.learning_rate) for name, parts in weights.items()
    }
    losses: dict[str, list[float]] = {"ours": [], "theirs": []}
    logits_gap = 0.0
    for _ in range(case.steps):
        batch = tasks.token_pairs(
            case.batch_size, case.n_pairs, case.vocabulary, length, generator=stream
        )
        said = {}
        for name, model in models.items():
            said[name] = model(batch)
            loss = cross_entropy(said[name], batch.target)
            optimisers[name].zero_grad()
            loss.backward()
            optimisers[name].step()
            losses[name].append(float(loss))
        logits_gap = max(logits_gap, _gap(said["theirs"], said["ours"]))
    level = np.log(case.n_pairs) / 2
    return {
        "settings": asdict(case),
        "logits_gap": logits_gap,
        "loss_gap": float(np.abs(np.subtract(losses["theirs"], losses["ours"])).max()),
        "emerged": {name: first(np.array(values) <= level) for name, values in losses.items()},
        "last_loss": losses["theirs"][-1],
    }


def _as_hooked(ours: AttentionOnlyTransformer, block_size: int) -> Any:
    """The attention-only model of TransformerLens with these weights, in single precision."""
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig
    except ImportError as error:
        raise NotMeasured(f"TransformerLens is not installed ({error.name})") from error
    dim, vocabulary = ours.W_E.shape
    theirs = HookedTransformer(
        HookedTransformerConfig(
            n_layers=2, n_heads=1, d_model=dim, d_head=dim, attn_only=True,
            n_ctx=block_size, d_vocab=vocabulary, normalization_type=None,
            device=ours.W_E.device.type,
        )
    )  # fmt: skip
    with torch.no_grad():
        theirs.embed.W_E.copy_(ours.W_E.T)
        theirs.pos_embed.W_pos.copy_(ours.W_pos.T)
        theirs.unembed.W_U.copy_(ours.W_U.T)
        theirs.unembed.b_U.zero_().requires_grad_(False)  # §2 has no biases
        for i, block in enumerate(theirs.blocks):
            for name, part in (("W_Q", ours.W_Q), ("W_K", ours.W_K), ("W_V", ours.W_V)):
                getattr(block.attn, name)[0].copy_(part[i].T)
            block.attn.W_O[0].copy_(ours.W_O[i].T)
            for name in ("b_Q", "b_K", "b_V", "b_O"):
                getattr(block.attn, name).requires_grad_(False)
    return theirs


def diffrax_times(query: Query, n_pairs: int) -> dict[str, Any]:
    """Emergence times of the three parameters by diffrax, and ours.

    Raises NotMeasured where diffrax is not installed.
    """
    try:
        import diffrax
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise NotMeasured(f"diffrax is not installed ({error.name})") from error
    jax.config.update("jax_enable_x64", True)
    rows = jnp.arange(2 * n_pairs)  # item 0, label 0, item 1, ...
    earlier = rows[None, :] < rows[:, None]
    to_item = (rows[:, None] % 2 == 1) & (rows[None, :] == rows[:, None] - 1)
    asked = jnp.arange(n_pairs) if query == "uniform" else jnp.array([n_pairs - 1])

    def loss(state: Any) -> Any:
        """Eq. 1 on orthonormal inputs, both layers of attention as written."""
        alpha, beta, gamma = state
        pays = jnp.where(earlier, alpha * to_item, -1e9)
        share = jax.nn.softmax(pays, axis=1) * earlier
        held = share[:, 2 * asked].T  # what each row has of the queried item
        retrieved = jax.nn.softmax(beta * held, axis=1)  # every row its own content
        target = rows[None, :] == 2 * asked[:, None] + 1
        return jnp.sum((gamma * retrieved - target) ** 2, axis=1).mean()

    ours = theory.times_in(theory.landscape_of(n_pairs, query))[:3]
    end = 1.05 * max(ours)
    path = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: -jax.grad(loss)(y)), diffrax.Tsit5(),
        t0=0.0, t1=end, dt0=1e-3, y0=jnp.zeros(3), saveat=diffrax.SaveAt(dense=True),
        stepsize_controller=diffrax.PIDController(rtol=1e-10, atol=1e-13), max_steps=16_384,
    )  # fmt: skip
    at = path.evaluate
    found = [
        brentq(lambda t, place=place: float(at(t)[place]) - 0.5, 0.0, end, rtol=1e-12)
        for place in range(3)
    ]
    worst = float(np.abs(np.divide(found, ours) - 1).max())
    return {
        "query": query, "n_pairs": n_pairs, "theirs": found, "ours": list(ours), "gap": worst,
    }  # fmt: skip


def _gap(one: torch.Tensor, two: torch.Tensor) -> float:
    return float((one - two).detach().abs().max() / two.detach().abs().max())


def first(reached: np.ndarray) -> int | None:
    """The first step at which something was reached, or None."""
    return int(reached.argmax()) if reached.any() else None


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=STORED, show_default=True)
def main(output: Path) -> None:
    """Let TransformerLens and diffrax compute what the book computes, and store both."""
    names = ("torch", "transformer-lens", "jax", "diffrax")
    try:
        results = {
            "command": "python -m tools.benchmark.witnesses",
            "python": platform.python_version(),
            "versions": {name: version(name) for name in names},
            "transformer_lens": lens(Lens()),
            "diffrax": [diffrax_times(query, n_pairs) for query, n_pairs in FLOWS],
        }
    except NotMeasured as reason:
        raise click.ClickException(f"{reason}: pip install -r requirements.peers.lock") from None
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    click.echo(f"written to {output}")


if __name__ == "__main__":
    main()
