"""Runs what the stored grid lacks: python -m emergence.experiments.token_grid FILE [SECONDS]."""

import sys
from pathlib import Path

from .store import complete

if __name__ == "__main__":
    complete(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else float("inf"))
