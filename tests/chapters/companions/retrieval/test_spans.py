"""The layer law against sets of symbols on whole prompts, published numbers and a network."""

import math
import random

import pytest
import sympy as sp
import torch

from chapters.companions.retrieval import spans, task
from chapters.companions.retrieval.spans import arrive


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
    needed = spans.layers_needed(n_hops, merging)
    assert knows_end(n_hops, needed, merging)
    assert not knows_end(n_hops, needed - 1, merging)


@pytest.mark.parametrize(
    ("merging", "base", "reach"), [("both", 3, [1, 4, 13, 40]), ("forward", 2, [1, 3, 7, 15])]
)
def test_reach_and_its_law_from_the_recurrence(merging, base, reach):
    law, t = spans.reach_law(merging)
    assert sp.simplify(law - (base**t - 1) / sp.Integer(base - 1)) == 0
    assert [spans.reach(n, merging) for n in range(1, 5)] == reach
    assert [law.subs(t, n) for n in range(1, 5)] == reach


def test_bound_of_the_source_is_the_count():
    for n_hops in range(1, 60):
        needed = spans.layers_needed(n_hops, "both")
        assert needed == spans.least_layers(n_hops)
        assert needed == math.ceil(round(math.log(2 * n_hops, 3), 9))


@pytest.mark.parametrize(("merging", "n_layers"), [("both", 2), ("forward", 2), ("forward", 3)])
def test_a_network_attains_the_reach_and_no_more(merging, n_layers):
    """It stops exactly at the symbol that the count names."""
    stream = torch.Generator().manual_seed(3)
    reach = spans.reach(n_layers, merging)
    for n_hops in (1, reach, reach + 1, reach + 3):
        symbols = 3 * (n_hops + 1)
        asked = torch.full((20, 3), n_hops)
        batch = task.chains(asked, n_hops=n_hops, vocabulary=symbols, generator=stream)
        arrived = arrive(batch, n_layers, merging, vocabulary=symbols)
        expected = batch.query.clone()
        for row in range(20):
            facts = dict(zip(batch.keys[row].tolist(), batch.values[row].tolist(), strict=True))
            for chain in range(3):
                for _ in range(min(reach, n_hops)):
                    expected[row, chain] = facts[int(expected[row, chain])]
        assert torch.equal(arrived, expected)
