"""The nineteen pseudo-parameters at the moments of Figs. 6 to 14, and their predictions."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float


def gap(
    measured: Float[np.ndarray, "seeds 19"], predicted: Float[np.ndarray, "19"]
) -> Float[np.ndarray, " seeds"]:
    """The largest difference of a coordinate over the largest predicted one (Figs. 6 to 14)."""
    return np.abs(measured - predicted).max(axis=1) / np.abs(predicted).max()


def as_table(
    columns: Mapping[
        int, tuple[Float[np.ndarray, "seeds 19"], *tuple[Float[np.ndarray, "19"], ...]]
    ],
    symbols: Sequence[str],
    beside: Sequence[str] = ("predicted",),
) -> str:
    """The nineteen at several steps in Markdown: means over seeds, and what stands beside them."""
    head = "".join(f" step {step} |" + "".join(f" {name} |" for name in beside) for step in columns)
    rows = [
        f"| {symbol} |"
        + "".join(
            "".join(f" {value:.3f} |" for value in (runs[:, i].mean(), *(law[i] for law in others)))
            for runs, *others in columns.values()
        )
        for i, symbol in enumerate(symbols)
    ]
    rule = "|---|" + "---:|" * (1 + len(beside)) * len(columns)
    return "\n".join([f"| |{head}", rule, *rows])
