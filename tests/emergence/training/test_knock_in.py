"""The pieces of the head do their step exactly, and nothing else."""

import numpy as np
import pytest
import torch

from emergence import analysis, models, tasks, training
from emergence.training import knock_in

VOCABULARY, BLOCK, DIM = 6, 7, 34


def model(parts, strength=5.0, dim=DIM):
    stream = torch.Generator().manual_seed(1)
    made = models.AttentionOnlyTransformer(
        dim, VOCABULARY, BLOCK, embedding_scale=0.5, generator=stream
    )
    knock_in.install(made, parts, strength)
    return made


def described(parts):
    return analysis.products(model(parts).double())


def test_previous_is_the_sub_diagonal_of_positions():
    expected = np.zeros((VOCABULARY + BLOCK,) * 2)
    expected[VOCABULARY:, VOCABULARY:] = 5 * np.eye(BLOCK, k=-1)
    assert np.abs(described(("previous",)).layer1 - expected).max() < 1e-3


def test_match_is_the_diagonal_of_tokens_and_retrieved_tokens():
    n = VOCABULARY + BLOCK
    expected = np.zeros((2 * n, 2 * n))
    expected[:VOCABULARY, n : n + VOCABULARY] = 5 * np.eye(VOCABULARY)
    assert np.abs(described(("match",)).layer2 - expected).max() < 1e-3


def test_copy_is_the_diagonal_of_what_the_second_head_retrieved():
    n = VOCABULARY + BLOCK
    expected = np.zeros((VOCABULARY, 4 * n))
    expected[:, 2 * n : 2 * n + VOCABULARY] = 5 * np.eye(VOCABULARY)
    assert np.abs(described(("copy",)).output - expected).max() < 1e-3


def test_other_matrices_stay():
    plain, given = (dict(model(parts).named_parameters()) for parts in ((), ("previous",)))
    changed = {name for name in plain if not torch.equal(plain[name], given[name])}
    assert changed == {"W_Q.0", "W_K.0"}


def test_all_pieces_answer_most_queries_untrained():
    batch = tasks.token_pairs(256, 2, VOCABULARY, BLOCK, generator=torch.Generator().manual_seed(2))
    whole = model(knock_in.PARTS, strength=20.0)
    logits = training.query_logits(whole, batch, "causal", "fast")
    later = batch.tokens[:, -1] != batch.tokens[:, 0]  # the first token finds itself (chapter 2)
    assert (logits.argmax(dim=1) == batch.target)[later].double().mean() > 0.99


@pytest.mark.parametrize(
    ("parts", "dim", "message"),
    [(("next",), DIM, "part must be one of"), (("match",), 31, "needs a width of 32, got 31")],
)
def test_what_cannot_be_installed_raises(parts, dim, message):
    with pytest.raises(ValueError, match=message):
        model(parts, dim=dim)
