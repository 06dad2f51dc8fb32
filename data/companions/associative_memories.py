"""Search what associative_memories.json lacks.

PYTHONPATH=src python data/companions/associative_memories.py

The file is written after each capacity. About four minutes on one core.
"""

from pathlib import Path

from emergence.companions.associative_memories import PRESET, stored

if __name__ == "__main__":
    stored.complete(Path(__file__).with_suffix(".json"), PRESET["paper"].settings)
