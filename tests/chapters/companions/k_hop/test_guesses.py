"""The gradients of the two guesses, by differences."""

import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot

from chapters.companions.k_hop import guesses
from chapters.companions.retrieval import task

BATCH = task.chains(
    torch.full((5, 3), 2), n_hops=3, vocabulary=13, generator=torch.Generator().manual_seed(0)
)


def loss_at(attention, context, chain, raised, lowered):
    """The loss of one question, with sums over facts in plain Python."""
    logits = torch.zeros(13, dtype=torch.float64)
    for share, key, value in zip(
        attention.softmax(0), BATCH.keys[context], BATCH.values[context], strict=True
    ):
        logits += 9 * share * (raised * one_hot(value, 13).double() - lowered * one_hot(key, 13))
    return cross_entropy(logits, BATCH.target[context, chain])


@pytest.mark.parametrize(("raised", "lowered"), [(0.0, 2.0), (1.0, 1.5)])
def test_pulls_are_differences_of_the_loss(raised, lowered):
    result = guesses.pulls(BATCH, 13, raised=raised, lowered=lowered)
    for fact in (0, 4):
        step = 1e-5 * one_hot(torch.tensor(fact), 9).double()
        for chain in range(3):
            up, down = (loss_at(sign * step, 1, chain, raised, lowered) for sign in (1, -1))
            assert result[1, chain, fact] == pytest.approx(float(down - up) / 2e-5, abs=1e-8)
