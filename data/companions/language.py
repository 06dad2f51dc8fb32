"""Measure what language.json lacks: PYTHONPATH=src python data/companions/language.py

The model is that of make env EXTRAS=language.
"""

from pathlib import Path

from emergence.companions.retrieval import language_study, silencing

if __name__ == "__main__":
    record = Path(__file__).with_suffix(".json")
    language_study.complete(record)
    silencing.complete(record)
