"""What *If you train models* says of the stored training runs of the transformer, beside them."""

import numpy as np
import pytest

from chapters.beyond.every_position.stored import StoredTrainings
from emergence import analysis
from tools.this_book import ROOT

SIZES = (4, 8, 16, 32)
SHORTER = SIZES[:-1]
APPEARS = 0  # the level at which the page counts the steps of plain gradient descent


@pytest.fixture(scope="module")
def stored():
    """The stored training runs."""
    return StoredTrainings(ROOT / "data" / "every_position.json")


@pytest.fixture(scope="module")
def adamw(stored):
    """Mean steps under AdamW by supervision and size."""
    kinds = "one", "queries", "length", "every", "inverse"
    return {kind: means(stored.tokens(kind, "adamw")) for kind in kinds}


def means(found):
    return {size: float(steps.mean()) for size, steps in found.items()}


def exponent(steps):
    return analysis.exponent(np.array(SIZES), np.array([steps[size] for size in SIZES])).slope


@pytest.mark.parametrize("size", SIZES)
def test_under_adamw_full_contexts_come_first_and_every_position_second(adamw, size):
    assert sorted(adamw, key=lambda kind: adamw[kind][size])[:2] == ["queries", "every"]


def test_most_of_the_fall_of_the_exponent_comes_with_many_queries_of_the_full_context(adamw):
    one, queries, every = (exponent(adamw[kind]) for kind in ("one", "queries", "every"))
    assert (one - queries) / (one - every) > 0.5


def test_under_adamw_random_lengths_are_slower_than_one_query_but_at_the_longest_context(adamw):
    faster = [size for size in SIZES if adamw["length"][size] < adamw["one"][size]]
    assert faster == [SIZES[-1]]


def test_under_adamw_weights_for_short_contexts_are_slower_than_equal_ones(adamw):
    inverse, equal = adamw["inverse"], adamw["every"]
    assert inverse.keys() == equal.keys()
    assert all(inverse[size] > equal[size] for size in equal)


@pytest.mark.parametrize("size", SHORTER)
def test_under_plain_gradient_descent_short_contexts_help_and_many_queries_hardly_do(stored, size):
    one, queries, length, every = (
        np.median(stored.tokens(kind, "sgd", level=APPEARS)[size])
        for kind in ("one", "queries", "length", "every")
    )
    assert max(length, every) < queries < one < 1.25 * queries


def test_the_block_just_holds_the_context(stored):
    trainings = [cell.training() for cell in stored.entries if hasattr(cell, "optimiser")]
    assert {training.block_size - 2 * training.n_pairs for training in trainings} == {1}
