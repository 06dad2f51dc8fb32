"""The ends of stored runs, computed again."""

import json
from dataclasses import replace
from typing import Any

from bookbuild.results.keys import digest
from chapters.companions.factual_recall.trials import Trial
from running import cache
from running.cache import plain
from running.records import Entry
from tools.this_book import ROOT

from . import certificates, stored
from .compare import End
from .states import Resuming
from .ways import WAYS


def key_of(entry: Entry) -> str:
    """The name of an entry's states in their file."""
    return str(digest(plain(entry.configuration)))[:12]


def ends(file: str) -> list[End]:
    """What is computed again of a file, in the order of its entries."""
    found = (end_of(file, place) for place in range(len(stored.entries(file))))
    return [end for end in found if end is not None]


def end_of(file: str, place: int) -> End | None:
    """How the end of one entry is computed again; None where it is not."""
    entry = stored.entries(file)[place]
    if file == "associative_memories":
        return certificates.end_of(place, entry, stored.state(file, key_of(entry)))
    way = WAYS[file](entry) if file in WAYS else None
    if way is None or (way.keeping and stored.state(file, key_of(entry)) is None):
        return None
    more = way.relative, way.absolute, way.whole
    return End(file, place, lambda: again(file, place), way.pick, *more)


def again(file: str, place: int) -> Any:
    """Compute the readings of an end from its state, or from the start where it has none."""
    entry = stored.entries(file)[place]
    way = WAYS[file](entry)
    assert way is not None
    run, configuration = stored.declared(file).bound(ROOT), way.configuration
    if way.keeping is None:
        return way.found(_as_stored(run(configuration)))
    states = stored.state(file, key_of(entry))
    assert states is not None
    if isinstance(configuration, Trial):  # ends at the test after the state
        test = configuration.every
        configuration = replace(configuration, steps=(states[0]["step"] // test + 1) * test)
    with cache.attached(Resuming(states)):
        return way.found(_as_stored(run(configuration)))


def _as_stored(result: Any) -> Any:
    """A result as a file has it: no tuples."""
    return json.loads(json.dumps(result))
