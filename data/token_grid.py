"""Train what data/token_grid.json lacks: PYTHONPATH=src python data/token_grid.py [SECONDS].

Cell by cell, cheapest first, each stored when it is done; after so many seconds of processor time
no further cell is begun. The chapter on real transformers reads the file.
"""

import sys
from pathlib import Path

from emergence.experiments import token_grid

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else None
    token_grid.complete(Path(__file__).with_suffix(".json"), seconds)
