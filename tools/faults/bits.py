"""Flipped bits, and results in the wrong place."""

import random
from pathlib import Path

import numpy as np

from bookbuild.results.store import Store
from bookbuild.results.values import to_files
from tools.faults.row import Row

KEYS = [f"{number:032x}" for number in range(3)]


def flips(count: int, folder: Path, dice: random.Random) -> Row:
    """Flip one bit at a time at random places of stored results."""
    row = Row("a flipped bit in a stored result")
    store = Store(folder)
    values = np.random.default_rng(dice.randrange(2**32))
    whole = [
        {"notebook.ipynb": values.bytes(20_000), "figures/a.svg": values.bytes(3000)},
        to_files({"steps": values.normal(size=300), "never": float("inf")}),
        to_files([]),
    ]
    kinds = ("chapter", "sweep", "checkpoint")
    for key, kind, files in zip(KEYS, kinds, whole, strict=True):
        store.put(key, kind, kind, {"seed": 0}, files)
    for _ in range(count):
        place = dice.randrange(len(KEYS))
        path = store.path(KEYS[place])
        sound = path.read_bytes()
        broken = bytearray(sound)
        position = dice.randrange(len(sound))
        broken[position] ^= 1 << dice.randrange(8)
        path.write_bytes(broken)
        row.tried += 1
        stored, remark = store.get(KEYS[place])
        row.noticed += stored is None and "set aside" in remark
        row.check(stored is None, f"{kinds[place]}: position {position} goes unnoticed")
        row.check(not path.exists(), f"{kinds[place]}: the damaged one is still in place")
        path.write_bytes(sound)
    for key, files in zip(KEYS, whole, strict=True):
        stored, _ = store.get(key)
        row.check(stored is not None and stored.files == files, "a sound one is refused")
    return row
