"""The bigram counts, read from the repository."""

from pathlib import Path

from emergence.companions.birth import bigrams

WRITTEN = (Path(__file__).parents[2] / "data/shakespeare_bigrams.csv").read_text(encoding="ascii")
COUNTS = bigrams.read(WRITTEN)
