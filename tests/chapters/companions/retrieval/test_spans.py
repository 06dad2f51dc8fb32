"""The layers that are needed against sets of symbols on whole prompts."""

import random

import pytest

from chapters.companions.retrieval import model


def knows_end(n_hops, n_layers, merging, n_chains=3, seed=0):
    """By brute force on a shuffled prompt: sets of edges, and the symbols that they touch."""
    facts = [((c, j), (c, j - 1)) for c in range(n_chains) for j in range(1, n_hops + 1)]
    random.Random(seed).shuffle(facts)
    states = [{fact} for fact in facts]
    asked = (0, n_hops)
    query = set()

    def far_end(edges):
        return min((symbol for edge in edges for symbol in edge), default=asked)

    def touched(edges, own):
        return {symbol for edge in edges for symbol in edge} | own

    def merged(edges, own):
        if merging == "forward":
            end = far_end(edges) if edges else asked
            met = [s for s in states if max(v for e in s for v in e) == end]
        else:
            met = [s for s in states if touched(s, set()) & touched(edges, own)]
        return set(edges).union(*met)

    for _ in range(n_layers):
        states, query = [merged(s, set()) for s in states], merged(query, {asked})
    return far_end(query) == (0, 0)


@pytest.mark.parametrize("merging", ["both", "forward"])
@pytest.mark.parametrize("n_hops", range(1, 11))
def test_layers_needed_as_by_sets_of_facts(n_hops, merging):
    needed = model.layers_needed(n_hops, merging)
    assert knows_end(n_hops, needed, merging)
    assert not knows_end(n_hops, needed - 1, merging)
