"""Run stored runs once more and keep their states: python -m tools.ends.make FILE [PLACE ...].

Places are those of entries, from 0; without them all that have no state and are not too long.
"""

import json
import sys
import time
from typing import Any

import torch

from running import cache
from running.records import Entry
from tools.this_book import ROOT

from . import certificates, covered, states, stored, ways
from .resume import end_of, key_of

MOST = 300.0  # seconds of a core that a run may take, unless its place is named


def main() -> int:
    """Make the states that a file lacks, the cheapest first; return 1 if one disagrees."""
    torch.set_num_threads(1)
    file, *places = sys.argv[1:]
    costs = {}
    for place, entry in enumerate(stored.entries(file)):
        seconds = certificates.SECONDS
        if file in ways.WAYS:
            way = ways.WAYS[file](entry)
            if way is None or way.keeping is None:
                continue
            seconds = way.seconds
        wanted = str(place) in places if places else seconds <= MOST
        if wanted and (places or stored.state(file, key_of(entry)) is None):
            costs[place] = seconds
    found = [_make(file, place, costs[place]) for place in sorted(costs, key=costs.__getitem__)]
    covered.write()
    return int(not all(found))


def _make(file: str, place: int, expected: float) -> bool:
    """Run one entry and keep its state if its end is found again; say so."""
    entry, begun = stored.entries(file)[place], time.process_time()
    if file in ways.WAYS:
        result, packed = _run(file, entry)
    else:
        result = entry.result
        packed = states.packed([certificates.made(entry)], key_of(entry), certificates.BITS)
    seconds, path = time.process_time() - begun, stored.FOLDER / f"{file}.npz"
    states.write(path, states.read(path) | packed)
    stored.arrays.cache_clear()
    end, begun = end_of(file, place), time.process_time()
    assert end is not None
    told = end.disagreements(entry.result, end.again())
    size = sum(part.nbytes for part in packed.values()) // 1024
    print(
        f"{end.name}: {seconds:.0f} s (expected {expected:.0f}), {size} KB; "
        f"equal: {json.loads(json.dumps(result)) == entry.result}; "
        f"{len(told)} differ, found again in {time.process_time() - begun:.1f} s",
        *told[:4],
        sep="\n    ",
        flush=True,
    )
    if told:
        kept = {name: part for name, part in states.read(path).items() if name not in packed}
        states.write(path, kept)
        stored.arrays.cache_clear()
    return not told


def _run(file: str, entry: Entry) -> tuple[Any, dict[str, Any]]:
    """The result of an entry, and its state as arrays."""
    way = ways.WAYS[file](entry)
    assert way is not None
    assert way.keeping is not None
    keeping = way.keeping()
    with cache.attached(keeping):
        result = stored.declared(file).bound(ROOT)(entry.configuration)
    kept = [trimmed(state, way) for state in keeping.states]
    return result, states.packed(kept, key_of(entry), way.bits)


def trimmed(state: dict[str, Any], way: ways.Way) -> dict[str, Any]:
    """A state without the rows that its end does not need."""
    parts = dict(state["parts"])
    for name, rows in way.parts.items():
        parts[name] = _last(parts[name]) if rows == "last" else {"list": []}
    return state | {"parts": parts}


def _last(kept: Any) -> Any:
    """The last of rows, as `running.loop` keeps them."""
    ((kind, content),) = kept.items()
    if kind == "columns":
        return {kind: [_last(column) for column in content]}
    return {kind: content[-1:]}


if __name__ == "__main__":
    sys.exit(main())
