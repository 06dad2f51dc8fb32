"""The pieces of the head do their step exactly, and nothing else."""

import re

import numpy as np
import pytest
import torch

from chapters.beyond import knock_in
from chapters.paper.induction_heads.products import products_of
from emergence import models, tasks, theory, training
from tools.this_book import ROOT

VOCABULARY, BLOCK, DIM = 6, 7, 34


def model(parts, strength=5.0, dim=DIM, sham=None):
    stream = torch.Generator().manual_seed(1)
    network = models.AttentionOnlyTransformer(
        dim, VOCABULARY, BLOCK, embedding_scale=0.5, generator=stream
    )
    knock_in.Given(parts, strength, sham)(network)
    return network


def described(parts, sham=None):
    return products_of(model(parts, sham=sham).double())


def test_each_piece_is_a_diagonal_of_its_own_and_no_more():
    n = VOCABULARY + BLOCK
    shapes = {"layer1": (n, n), "layer2": (2 * n, 2 * n), "output": (VOCABULARY, 4 * n)}
    expected = {name: np.zeros(shape) for name, shape in shapes.items()}
    expected["layer1"][VOCABULARY:, VOCABULARY:] = 5 * np.eye(BLOCK, k=-1)
    expected["layer2"][:VOCABULARY, n : n + VOCABULARY] = 5 * np.eye(VOCABULARY)
    expected["output"][:, 2 * n : 2 * n + VOCABULARY] = 5 * np.eye(VOCABULARY)
    for part, (name, matrix) in zip(("previous", "match", "copy"), expected.items(), strict=True):
        assert np.abs(getattr(described((part,)), name) - matrix).max() < 1e-3, part


@pytest.mark.parametrize("sham", ["permuted", "rotated"])
@pytest.mark.parametrize("part", knock_in.PARTS)
def test_a_sham_has_the_same_singular_values_in_the_same_matrices(part, sham):
    plain, given, other = (
        dict(model(parts, sham=how).named_parameters())
        for parts, how in (((), None), ((part,), None), ((part,), sham))
    )
    changed = {name for name in plain if not torch.equal(plain[name], given[name])}
    assert changed == {name for name in plain if not torch.equal(plain[name], other[name])}
    for name in changed:
        first, two = (torch.linalg.svdvals(network[name].detach()) for network in (given, other))
        assert torch.allclose(first, two, atol=1e-4 * float(first.max()))


def test_a_permuted_copy_says_or_finds_another_token():
    n = VOCABULARY + BLOCK
    shifted = 5 * np.roll(np.eye(VOCABULARY), 1, axis=0)
    output = described(("copy",), "permuted").output[:, 2 * n : 2 * n + VOCABULARY]
    assert np.abs(output - shifted).max() < 1e-3
    layer2 = described(("match",), "permuted").layer2[:VOCABULARY, n : n + VOCABULARY]
    assert np.abs(layer2 - shifted).max() < 1e-3
    layer1 = described(("previous",), "permuted").layer1[VOCABULARY:, VOCABULARY:]
    assert np.abs(np.diagonal(layer1, -2) - 5).max() < 1e-3
    assert np.abs(np.diagonal(layer1, -1)).max() < 1e-3


def test_all_pieces_answer_most_queries_untrained():
    batch = tasks.token_pairs(256, 2, VOCABULARY, BLOCK, generator=torch.Generator().manual_seed(2))
    whole = model(knock_in.PARTS, strength=20.0)
    logits = training.query_logits(whole, batch, "causal", "fast")
    later = batch.tokens[:, -1] != batch.tokens[:, 0]  # the first token finds itself (chapter 2)
    assert (logits.argmax(dim=1) == batch.target)[later].double().mean() > 0.99


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("parts", "dim", "message"),
    [(("next",), DIM, "part must be one of"), (("match",), 31, "needs a width of 32, got 31")],
)
def test_what_cannot_be_installed_raises(parts, dim, message):
    with pytest.raises(ValueError, match=message):
        model(parts, dim=dim)


def test_only_the_true_sham_of_the_flow_keeps_to_the_bound_of_the_page():
    """How much sooner alpha emerges with beta held, at sixteen pairs: a sham that helps fails."""
    page = (ROOT / "book/beyond/07_knock_in.md").read_text(encoding="utf-8")
    (bound,) = re.findall(r"fastest_sham, at_most=([\d.]+)\)", page)
    landscape = theory.landscape_of(16)
    free = theory.times_in(landscape).alpha
    sham, helping = (
        free
        / theory.times_in(landscape, rates=theory.Rates(beta=0.0), start=(0.0, beta, 0.0)).alpha
        for beta in (-1.0, 1.0)
    )
    assert sham <= float(bound) < helping
