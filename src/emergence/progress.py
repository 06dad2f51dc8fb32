"""Who is how far? Long loops report their steps on a standard logger; whoever runs them listens."""

import logging
from collections.abc import Iterator

logger = logging.getLogger("emergence.progress")


def steps(experiment: str, total: int, *, first: int = 0) -> Iterator[int]:
    """Count from `first` to total - 1 and log each step."""
    for step in range(first, total):
        yield step
        tell(experiment, step + 1, total)


def tell(experiment: str, step: int, total: int) -> None:
    """Log that so many steps are done, with `experiment`, `step` and `total` as extras."""
    logger.info(
        "%s: step %d of %d",
        experiment,
        step,
        total,
        extra={"experiment": experiment, "step": step, "total": total},
    )
