"""Handler that carries progress from a running chapter to the process that executes it."""

import json
import logging
import os
import time
from pathlib import Path

PROGRESS_FILE = "BOOKBUILD_PROGRESS"
PROGRESS_LOGGER = "BOOKBUILD_PROGRESS_LOGGER"  # whose records have an experiment, step and total
SECONDS_BETWEEN_LINES = 0.5


class ProgressFile(logging.Handler):
    """Handler that appends each progress record to a file, a JSON line, a few a second at most."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._experiment = ""
        self._last = float("-inf")

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record if it opens or ends an experiment, or if enough time has passed."""
        experiment = getattr(record, "experiment", None)
        if experiment is None:
            return
        step, total = int(getattr(record, "step", 0)), int(getattr(record, "total", 0))
        now = time.time()
        too_soon = now - self._last < SECONDS_BETWEEN_LINES
        if too_soon and experiment == self._experiment and step < total:
            return
        self._experiment, self._last = experiment, now
        line = {"experiment": str(experiment), "step": step, "total": total, "time": now}
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")


def attach_from_environment() -> None:
    """Attach a handler where the executing process named a file for it; do nothing elsewhere."""
    path = os.environ.get(PROGRESS_FILE)
    logger = logging.getLogger(os.environ.get(PROGRESS_LOGGER))
    if path and not any(isinstance(handler, ProgressFile) for handler in logger.handlers):
        logger.addHandler(ProgressFile(Path(path)))
        logger.setLevel(logging.INFO)
