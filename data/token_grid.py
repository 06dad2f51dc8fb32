"""Train what data/token_grid.json lacks: PYTHONPATH=src python data/token_grid.py [SECONDS].

Cell by cell, each stored when it is done; an interrupted one goes on from its last
state, which lies under _build. After so many seconds no further cell is begun.
The chapter on real transformers reads the file.
"""

import sys
from pathlib import Path

from bookbuild.results.cache import attached_for
from emergence.experiments import token_grid

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
    with attached_for(ROOT, "token_grid"):
        token_grid.complete(Path(__file__).with_suffix(".json"), seconds)
