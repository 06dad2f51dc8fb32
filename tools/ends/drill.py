"""Plant edits at the ends of stored runs and look which are found: python -m tools.ends.drill.

The edits are spread over all files that have ends, then drawn at random. `--count`, `--seed`.
"""

import argparse
import random
import sys
import time

import torch

from . import stored
from .edits import drawn, forged
from .resume import ends


def main() -> int:
    """Return 0 if every planted edit is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    torch.set_num_threads(1)
    dice, found = random.Random(options.seed), 0
    pools = {file: ends(file) for file in stored.files()}
    pools = {file: pool for file, pool in pools.items() if pool}
    begun = time.monotonic()
    for number in range(options.count):
        file = [*pools][number] if number < len(pools) else dice.choice([*pools])
        end = dice.choice(pools[file])
        result = stored.entries(file)[end.place].result
        edit = drawn(end, result, dice)
        told = end.disagreements(forged(result, edit), end.again())
        found += bool(told)
        way = "/".join(map(str, edit.path))
        print(f"{end.name}: {way} {edit.before} -> {edit.after}: {told or 'NOT FOUND'}", flush=True)
    took = time.monotonic() - begun
    print(f"seed {options.seed}: {found} of {options.count} found, {took:.0f} s")
    return int(found < options.count)


if __name__ == "__main__":
    sys.exit(main())
