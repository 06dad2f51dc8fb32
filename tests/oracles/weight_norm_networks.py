"""Random networks, and a simulation of them that follows the definitions unit by unit."""

from hypothesis import strategies as st

from chapters.companions.weight_norm.model import (
    GATE,
    LINKS,
    ONE,
    OUT,
    LoopedNetwork,
    Private,
    Shared,
    Unit,
)


@st.composite
def parts(draw, most=12, species=6, cells=5):
    """What `network_of` makes any network of: few species and cells, tapes among them."""
    tapes = frozenset(draw(st.sets(st.integers(3, species - 1))))
    sign = st.sampled_from((-1, 1))
    unit = st.tuples(st.integers(0, species - 1), st.integers(0, cells - 1)).map(
        lambda u: (u[0], 0) if u[0] in tapes else u
    )
    private = draw(st.dictionaries(st.tuples(unit, unit), sign, max_size=most))
    # without a bias nothing ever switches on, and such examples test nothing
    biased = draw(st.sets(st.integers(1, species - 1), min_size=2))
    private |= {((number, 0), (ONE, 0)): 1 for number in biased}

    def allowed(ends):
        target, source, link = ends
        match link:
            case "broadcast":
                return True
            case "pool":
                return source not in tapes
            case "each":
                return (target in tapes) == (source in tapes)
            case _:
                return target in tapes and source in tapes

    number = st.integers(0, species - 1)
    ends = st.tuples(number, number, st.sampled_from(LINKS)).filter(allowed)
    shared = draw(st.dictionaries(ends, sign, max_size=most))
    return private, shared, tapes


def network_of(parts):
    """The network; outside of strategies, where the run-time type checks may draw at random."""
    private, shared, tapes = parts
    return LoopedNetwork(
        frozenset(Private(Unit(*t), Unit(*s), w) for (t, s), w in private.items()),
        frozenset(Shared(t, s, link, w) for (t, s, link), w in shared.items()),
        tapes,
    )


def simulated(network, steps):
    """States of all units at times 0 to `steps`: a set of the units that are on."""
    indices = {
        s: range(-2 * steps, 2 * steps + 1) if s in network.tapes else range(network.cell_count)
        for s in range(network.species_count)
    }
    on = {Unit(ONE, 0)}
    history = [on]
    for _ in range(steps):
        after = {Unit(ONE, 0)}
        for species, places in indices.items():
            for place in places:
                unit = Unit(species, place)
                if _total(network, unit, on) > 0:
                    after.add(unit)
        on = after
        history.append(on)
    return history


def _total(network, unit, on):
    total = sum(w for target, source, w in network.private if target == unit and source in on)
    for target, source, link, w in network.shared:
        if target != unit.species or (link == "pool" and unit.index):
            continue
        if link == "pool":
            total += w * sum(other.species == source for other in on)
        else:
            index = {"each": unit.index, "left": unit.index - 1, "right": unit.index + 1}
            total += w * (Unit(source, index.get(link, 0)) in on)
    return total


def print_of(network, steps):
    """What the simulation prints, by the definition of `gate`."""
    gated = any(w.target.species == GATE for w in network.private)
    gated = gated or any(w.target == GATE for w in network.shared)
    history = simulated(network, steps)[1:]
    return [int(Unit(OUT, 0) in on) for on in history if not gated or Unit(GATE, 0) in on]
