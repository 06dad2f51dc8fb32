"""A published program run beside the book: python -m tools.benchmark.published --help.

The CatFormer of Nichani et al. (arXiv 2402.14735) and Eq. 1 train on the same batches. It needs
`pip install -r requirements.peers.lock` and access to GitHub: the program comes without a licence,
so its file is fetched at its commit, and none of its code is kept here.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch.nn.functional import cross_entropy

from emergence import models, tasks
from emergence.models import Weights
from running import devices

from .witnesses import NotMeasured, first

STORED = Path(__file__).parents[2] / "data" / "peers" / "published.json"
CACHE = Path("_build", "peers")
PROGRAM = {
    "repository": "eshnich/transformers-learn-causal-structure",
    "commit": "7d5e4569f77485e7bbeb7ee7834fb56453439aa4",
    "file": "catformer.py",
}
DIGEST = "310a6b65a6b3c292d353854267044ae9ca0062ed2b4b6b48994ae52ce560ce8e"  # of the file
CATFORMER = {
    "n_pairs": 4, "vocabulary": 12, "positions": 9, "batch_size": 256, "steps": 500,
    "learning_rate": 8.0, "seed": 0,
}  # fmt: skip


def program() -> dict[str, Any]:
    """The names that the published file defines, executed from its copy in `_build/peers`.

    Raises NotMeasured where it cannot be fetched, is another file, or needs what is not installed.
    """
    import pooch

    address = "/".join(("https://raw.githubusercontent.com", *PROGRAM.values()))
    try:
        path = pooch.retrieve(address, f"sha256:{DIGEST}", PROGRAM["file"], CACHE)
    except (OSError, ValueError) as error:
        raise NotMeasured(f"{address} cannot be fetched: {' '.join(str(error).split())}") from error
    found: dict[str, Any] = {"__name__": Path(path).stem}
    try:
        exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), found)
    except ImportError as error:
        raise NotMeasured(f"{error.name} is not installed") from error
    return found


def catformer(settings: Mapping[str, Any] = CATFORMER) -> dict[str, Any]:
    """Both disentangled transformers by gradient descent from zero, in double precision.

    Tokens and positions are one-hot. Returned are the gaps of the losses, the first step at which
    each loss is half of ln N, and both losses.
    """
    theirs = program()["CatFormer"]
    import jax
    import jax.numpy as jnp

    vocabulary, positions = settings["vocabulary"], settings["positions"]
    width, rate = vocabulary + positions, settings["learning_rate"]
    shapes = ((width, width), (2 * width, 2 * width), (4 * width, vocabulary))
    ours = Weights(*(torch.zeros(s, dtype=torch.float64, requires_grad=True) for s in shapes))
    rows = [torch.eye(size, dtype=torch.float64) for size in (vocabulary, positions)]
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


@click.command()
@click.option("--output", type=click.Path(path_type=Path), default=STORED, show_default=True)
def main(output: Path) -> None:
    """Run the published program beside the book, and store the figures."""
    try:
        record = {
            "command": "python -m tools.benchmark.published",
            "date": datetime.now(UTC).date().isoformat(),
            "versions": {name: version(name) for name in ("jax", "torch")},
            **PROGRAM,
            "settings": CATFORMER,
            **catformer(),
        }
    except NotMeasured as reason:
        lacking = f"{reason}: pip install -r requirements.peers.lock, with access to GitHub"
        raise click.ClickException(lacking) from None
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    click.echo(f"written to {output}")


if __name__ == "__main__":
    main()
