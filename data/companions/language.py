"""Measure what language.json lacks: PYTHONPATH=src python data/companions/language.py

The model is that of make env EXTRAS=language.
"""

from pathlib import Path

from emergence.companions.retrieval import language_study

if __name__ == "__main__":
    language_study.complete(Path(__file__).with_suffix(".json"))
