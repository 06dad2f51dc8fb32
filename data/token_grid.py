"""Train what data/token_grid.json lacks: PYTHONPATH=src python data/token_grid.py [SECONDS].

Cell by cell, cheapest first, each stored when it is done; an interrupted one goes on from its last
state, which lies under _build. After so many seconds of processor time no further cell is begun.
The chapter on real transformers reads the file.
"""

import sys
from pathlib import Path

from bookbuild.results.cache import StoredCache
from emergence.experiments import token_grid
from emergence.running import cache

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else None
    build = ROOT / "_build"
    states = StoredCache(build / "results", ROOT / "src", "cpu", {}, build / "token_grid")
    with cache.attached(states):
        token_grid.complete(Path(__file__).with_suffix(".json"), seconds)
