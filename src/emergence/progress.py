"""Who is how far? Long loops report their steps on a standard logger; whoever runs them listens."""

import logging
from collections.abc import Iterator

logger = logging.getLogger("emergence.progress")


def steps(experiment: str, total: int) -> Iterator[int]:
    """Count from 0 to total - 1 and log each step, with `experiment`, `step`, `total` as extras."""
    for step in range(total):
        yield step
        logger.info(
            "%s: step %d of %d",
            experiment,
            step + 1,
            total,
            extra={"experiment": experiment, "step": step + 1, "total": total},
        )
