"""The published programs: each file at its commit, fetched when it is needed.

Neither comes with a licence, so none of their code is kept here.
"""

from pathlib import Path
from typing import Any

import numpy as np

from tools.benchmark.peers import NotMeasured

CACHE = Path("_build", "peers")
TOLD = {  # what the record says of each program; `digest` is of the file
    "catformer": {
        "repository": "eshnich/transformers-learn-causal-structure",
        "commit": "7d5e4569f77485e7bbeb7ee7834fb56453439aa4",
        "file": "catformer.py",
        "digest": "310a6b65a6b3c292d353854267044ae9ca0062ed2b4b6b48994ae52ce560ce8e",
    },
    "clamping": {
        "repository": "aadityasingh/icl-dynamics",
        "commit": "47eba1da8e295af24b10a55de603f5e28db07ed0",
        "file": "simple_model_solver.py",
        "digest": "f5ad6a1f06d26f9bfd9ef361f94018e7344afa14e3af493fa807a67aae17a114",
    },
}


def program(name: str) -> dict[str, Any]:
    """The names that a published file defines, executed from its copy in `_build/peers`.

    Args:
        name: a key of `TOLD`.

    Raises:
        NotMeasured: where the file cannot be fetched, is another, or needs what is not installed.
    """
    import pooch

    told = TOLD[name]
    address = (
        f"https://raw.githubusercontent.com/{told['repository']}/{told['commit']}/{told['file']}"
    )
    try:
        path = pooch.retrieve(address, f"sha256:{told['digest']}", told["file"], CACHE)
    except (OSError, ValueError) as error:
        raise NotMeasured(f"{address} cannot be fetched: {' '.join(str(error).split())}") from error
    # Below this function the second file draws its figure whenever it is imported.
    source = Path(path).read_text(encoding="utf-8").partition("\ndef create_parser")[0]
    found: dict[str, Any] = {"__name__": Path(path).stem}
    try:
        import jax

        if not hasattr(jax, "tree_map"):  # it is gone from this JAX
            jax.tree_map = jax.tree_util.tree_map
        exec(compile(source, path, "exec"), found)
    except ImportError as error:
        raise NotMeasured(f"{error.name} is not installed") from error
    return found


def gap_of(one: np.ndarray, two: np.ndarray) -> float:
    """The largest difference of two paths."""
    return float(np.abs(one - two).max())


def first(reached: np.ndarray) -> int | None:
    """The first step at which something was reached, or None."""
    return int(reached.argmax()) if reached.any() else None
