"""What the clock counts in every text, stored in data/clock_counts.json."""

from dataclasses import dataclass
from typing import Any

from emergence.clock import Pulls, pulls
from emergence.running.records import StoredRuns

from .corpora import Text, text_tokens
from .stored import CELLS

COMMAND = "make record WHAT=runs RUNS=clock_counts"
# by context, so that each count reads as many tokens
WINDOWS = {32: 2048, 64: 1024, 128: 512, 256: 256, 512: 128}


@dataclass(frozen=True)
class Count:
    """Pulls of a text at a context."""

    text: Text  # what is counted
    context: int  # tokens C of a window


def count_pulls(asked: Count) -> dict[str, Any]:
    """The pulls, six digits each."""
    measured = pulls(text_tokens(asked.text), asked.context, windows=WINDOWS[asked.context])
    return {name: rounded(value) for name, value in measured._asdict().items()}


def restored(stored: dict[str, Any]) -> Pulls:
    """Pulls as they were before they were stored."""
    values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in stored.items()}
    return Pulls(**values)


def rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def asked_for() -> tuple[Count, ...]:
    """Each text at each context that a cell has, once."""
    return tuple(dict.fromkeys(Count(cell.text, cell.context) for cell in CELLS))


RUNS = StoredRuns(count_pulls, asked_for())
