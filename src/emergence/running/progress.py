"""Progress of long loops, reported on a standard logger."""

import logging

logger = logging.getLogger(__name__)


def log_step(experiment: str, step: int, total: int) -> None:
    """Log that so many steps are done, with `experiment`, `step` and `total` as extras."""
    logger.info(
        "%s: step %d of %d",
        experiment,
        step,
        total,
        extra={"experiment": experiment, "step": step, "total": total},
    )
