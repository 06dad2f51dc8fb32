"""Compute the cells that k_hop.json lacks: PYTHONPATH=src python data/companions/k_hop.py

The order is that of the declared cells; the file is written after each.
"""

from pathlib import Path

from emergence.companions.k_hop import stored

if __name__ == "__main__":
    stored.complete(Path(__file__).with_suffix(".json"))
