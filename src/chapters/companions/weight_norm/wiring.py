"""Wiring a network by names, and the parts that several networks use."""

from collections.abc import Sequence

from .model import Link, Network, Private, Shared, Unit

End = str | tuple[str, int]  # a species' unit 0, or a species and an index


class Wiring:
    """A network under construction: species have names and are numbered as they appear."""

    def __init__(self, tapes: Sequence[str] = ()) -> None:
        self._names = ["one", "out", "gate", *tapes]
        self._tapes = frozenset(range(3, 3 + len(tapes)))
        self._private: list[Private] = []
        self._shared: list[Shared] = []

    def wire(self, target: End, source: End, sign: int = 1) -> None:
        """Add a weight of one connection."""
        self._private.append(Private(self._unit(target), self._unit(source), sign))

    def share(self, target: str, source: str, link: Link = "each", sign: int = 1) -> None:
        """Add a weight that all units of the target share."""
        self._shared.append(Shared(self._number(target), self._number(source), link, sign))

    def build(self) -> Network:
        """The network."""
        private, shared = frozenset(self._private), frozenset(self._shared)
        return Network(private, shared, self._tapes, tuple(self._names))

    def _number(self, name: str) -> int:
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name)

    def _unit(self, end: End) -> Unit:
        name, index = (end, 0) if isinstance(end, str) else end
        return Unit(self._number(name), index)


def started(tapes: Sequence[str] = ()) -> Wiring:
    """A network with a unit `start`, on at time 1 and never again: three weights."""
    wiring = Wiring(tapes)
    wiring.wire("begun", "one")
    wiring.wire("start", "one")
    wiring.wire("start", "begun", -1)
    return wiring


def add_and(wiring: Wiring, target: str, source: str, link: Link, signal: str) -> None:
    """The target is on, a step later, where the source's linked unit and the signal's unit 0 are.

    Three weights that the target's units share.
    """
    wiring.share(target, source, link)
    wiring.share(target, signal, "broadcast")
    wiring.share(target, "one", "broadcast", -1)


def add_toggle(wiring: Wiring, source: End) -> None:
    """Unit `carry` passes on every second pulse of the source, a step later: eight weights.

    Unit `odd` remembers whether the number of pulses is odd. Pulses are two steps apart or more.
    """
    wiring.wire("rise", source)
    wiring.wire("rise", "odd", -1)
    wiring.wire("carry", source)
    wiring.wire("carry", "odd")
    wiring.wire("carry", "one", -1)
    wiring.wire("odd", "odd")
    wiring.wire("odd", "rise")
    wiring.wire("odd", "carry", -1)
