"""Compute the tables that grokking.json lacks: PYTHONPATH=src python data/companions/grokking.py

The ladder of directions, the network at p = 37, and the network at other p; the file is written
after each table. About an hour and a half on one core.
"""

from pathlib import Path

from bookbuild.results.cache import attached_for
from emergence.companions import grokking
from emergence.companions.grokking import stored

if __name__ == "__main__":
    with attached_for(Path(__file__).parents[2], "grokking"):
        stored.complete(Path(__file__).with_suffix(".json"), grokking.PRESET["paper"].settings)
