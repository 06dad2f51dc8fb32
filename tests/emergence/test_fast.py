"""The fast methods equal the dense ones, in values and in the gradient of every weight."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from emergence import fast, models, tasks
from emergence.models import AttentionOnlyTransformer, Weights
from emergence.subspace import NAMES, PseudoParameters, embed

masks = st.sampled_from(["strict", "causal"])
windows = st.tuples(*[st.none() | st.integers(1, 12)] * 2)
seeds = st.integers(0, 2**31)
SIZES = {
    "n_pairs": st.integers(1, 5), "half": st.integers(1, 4), "mask": masks, "seed": seeds,
    "runs": st.sampled_from([(), (1,), (3,), (2, 2)]),
}  # fmt: skip
ROWS = [slice(None), slice(-1, None), slice(2, 5), slice(0, 1), slice(1, None, 2)]


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def assert_equal(close, dense, quick, start, value):
    """Both outputs give the same value, a scalar, and the same gradient of it by every weight."""
    results = []
    for output in (dense, quick):
        leaves = [weight.clone().requires_grad_() for weight in start]
        result = output(leaves)
        results.append((result, *torch.autograd.grad(value(result), leaves)))
    for expected, actual in zip(*results, strict=True):
        close(actual, expected)


def inputs_and_readout(runs, n_pairs, dim, generator):
    shapes = (*runs, 3, 2 * n_pairs + 1, 2 * dim), (*runs, 3, dim)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes)


@given(**SIZES, windows=windows)
def test_disentangled_output(close, random_weights, n_pairs, half, runs, mask, windows, seed):
    generator, dim = stream(seed), 2 * half
    start = random_weights(generator, dim, runs)
    inputs, readout = inputs_and_readout(runs, n_pairs, dim, generator)
    dense, quick = (
        lambda weights, output=output: output(Weights(*weights), inputs, mask=mask, windows=windows)
        for output in (models.disentangled_output, fast.disentangled_output)
    )
    assert_equal(close, dense, quick, start, lambda found: (found * readout).sum())


@given(**SIZES)
def test_induction_head_output(close, n_pairs, half, runs, mask, seed):
    generator, dim = stream(seed), 2 * half
    start = torch.randn(*runs, 3, generator=generator, dtype=torch.float64)
    inputs, readout = inputs_and_readout(runs, n_pairs, dim, generator)
    place = torch.zeros(3, 19, dtype=torch.float64)
    place[range(3), [NAMES.index(name) for name in ("alpha_3", "beta_2", "gamma_3")]] = 1.0

    def dense(leaves):
        weights = embed(PseudoParameters.unstack(leaves[0] @ place), dim)
        return models.disentangled_output(weights, inputs, mask=mask)

    def quick(leaves):
        return fast.induction_head_output(leaves[0], inputs, mask=mask)

    assert_equal(close, dense, quick, [start], lambda found: (found * readout).sum())


@pytest.mark.parametrize("output", [fast.disentangled_output, fast.induction_head_output])
def test_no_gradient_for_inputs_is_said_not_guessed(random_weights, output):
    inputs = torch.randn(2, 5, 8, dtype=torch.float64).requires_grad_()
    full = output is fast.disentangled_output
    weights = random_weights(stream(), 4) if full else torch.ones(3, dtype=torch.float64)
    with pytest.raises(ValueError, match="no gradient for inputs"):
        output(weights, inputs)


@given(
    n_pairs=st.integers(1, 4),
    dim=st.integers(1, 9),
    spare=st.integers(0, 4),
    mask=masks,
    rows=st.sampled_from(ROWS),
    seed=seeds,
)
def test_attention_only_logits(close, n_pairs, dim, spare, mask, rows, seed):
    """Also for fewer dimensions than basis vectors, unused tokens and unused positions."""
    generator, vocabulary, block = stream(seed), 2 * n_pairs + spare, 2 * n_pairs + 1 + spare
    model = AttentionOnlyTransformer(
        dim, vocabulary, block, embedding_scale=1.0, generator=generator
    ).double()
    batch = tasks.token_pairs(3, n_pairs, vocabulary, block, generator=generator)
    dense = model(batch.tokens, batch.positions, mask=mask)[:, rows]
    quick = fast.attention_only_logits(model, batch.tokens, batch.positions, mask=mask, rows=rows)
    close(quick, dense)
    readout = torch.randn(dense.shape, generator=generator, dtype=torch.float64)
    parameters = list(model.parameters())
    expected = torch.autograd.grad((dense * readout).sum(), parameters, allow_unused=True)
    actual = torch.autograd.grad((quick * readout).sum(), parameters, allow_unused=True)
    for logits, two in zip(actual, expected, strict=True):
        close(logits, two)


@pytest.mark.parametrize("layer", [0, 1])
def test_key_query_products_are_attention_scores(close, layer):
    """Entry (i, j) is what basis vector i, as query, pays to j, as key: D^(-1/2) (Qi).(Kj)."""
    model = AttentionOnlyTransformer(6, 5, 5, embedding_scale=1.0, generator=stream()).double()
    basis = torch.randn(6, 4, generator=stream(), dtype=torch.float64)
    products = fast.key_query_products(model, basis, layer)
    for i in range(4):
        for j in range(4):
            query, key = model.W_Q[layer] @ basis[:, i], model.W_K[layer] @ basis[:, j]
            close(products[i, j], query.dot(key) / 6**0.5)
