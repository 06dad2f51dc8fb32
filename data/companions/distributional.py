"""Compute the runs that distributional.json lacks.

PYTHONPATH=src python data/companions/distributional.py

The order is that of the declared runs; the file is written after each. An interrupted run goes on
from its last state, which lies under _build.
"""

from pathlib import Path

from bookbuild.results.cache import attached_for
from emergence.companions.birth import bigrams
from emergence.companions.distributional import stored

ROOT = Path(__file__).parents[2]

if __name__ == "__main__":
    text = (ROOT / "data" / "shakespeare_bigrams.csv").read_text(encoding="ascii")
    with attached_for(ROOT, "distributional"):
        stored.complete(Path(__file__).with_suffix(".json"), bigrams.read(text))
