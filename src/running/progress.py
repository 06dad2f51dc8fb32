"""Progress of long loops, told on a standard logger; whoever runs them listens."""

import logging

logger = logging.getLogger(__name__)


def tell(experiment: str, step: int, total: int) -> None:
    """Log that so many steps are done, with `experiment`, `step` and `total` as extras."""
    logger.info(
        "%s: step %d of %d",
        experiment,
        step,
        total,
        extra={"experiment": experiment, "step": step, "total": total},
    )
