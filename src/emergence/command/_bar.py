"""Bars on the error stream that show how far a long computation is."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from click.termui import progressbar

from emergence.running import progress

SECONDS = 0.1  # between two drawings of a bar


class _Bar(logging.Handler):
    """Draws the steps of trainings as a bar with the time that is left."""

    def __init__(self) -> None:
        super().__init__()
        self.bars: dict[str, Any] = {}
        self.drawn = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Move the bar of an experiment on."""
        label, step, total = (getattr(record, x) for x in ("experiment", "step", "total"))
        if label not in self.bars:
            self.bars[label] = progressbar(
                length=total, label=label, file=sys.stderr, show_pos=True
            ).__enter__()
        if step == total or time.monotonic() - self.drawn > SECONDS:
            self.bars[label].update(step - self.bars[label].pos)
            self.drawn = time.monotonic()

    def end(self) -> None:
        """Leave the lines of the trainings."""
        for bar in self.bars.values():
            bar.render_finish()


@contextmanager
def bar() -> Iterator[None]:
    """Show the progress of trainings on the error stream."""
    handler, before = _Bar(), progress.logger.level
    progress.logger.addHandler(handler)
    progress.logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        handler.end()
        progress.logger.removeHandler(handler)
        progress.logger.setLevel(before)
