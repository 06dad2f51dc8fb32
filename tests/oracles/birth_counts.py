"""The bigram counts, read from the repository."""

from chapters.companions.birth import task
from tools.this_book import ROOT

WRITTEN = (ROOT / "data/shakespeare_bigrams.csv").read_text(encoding="ascii")
COUNTS = task.read(WRITTEN)
