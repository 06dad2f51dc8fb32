"""Both networks against independent loops, the fast methods against both, and the subspace."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from asserts import refused, same_gradients
from draws import CPU, normal, stream
from emergence import fast, models, tasks
from emergence.models import AttentionOnlyTransformer, Weights
from emergence.subspace import HEAD, NAMES, PseudoParameters, embed, project
from oracles import elementwise as oracle

MASKS = ["strict", "causal"]
masks = st.sampled_from(MASKS)
sizes = st.integers(1, 4)
seeds = st.integers(0, 2**31)
run_shapes = st.sampled_from([(), (2,), (2, 3)])


def drawn(dim=6, vocabulary=7, block_size=12, *, generator, **options):
    model = AttentionOnlyTransformer(
        dim, vocabulary, block_size, embedding_scale=1.0, generator=generator, **options
    )
    return model.double()


def attentive():
    model = drawn(generator=stream())
    with torch.no_grad():
        for query in model.W_Q:
            query *= 5
    return model


def token_batch():
    return tasks.token_pairs(5, 3, 7, 12, generator=stream())


@pytest.mark.slow("they are checked where slow tests run, too")
def test_shapes_are_checked_in_the_tests():
    with pytest.raises(TypeCheckError, match="allowed"):
        models.attention(torch.zeros(3, 4), torch.ones(3, 3, dtype=torch.bool))


@given(n_pairs=sizes, half=st.integers(1, 3), runs=run_shapes, mask=masks, seed=seeds)
def test_disentangled_output_is_equation_1(close, random_weights, n_pairs, half, runs, mask, seed):
    generator, dim, batch = stream(seed), 2 * half, 2
    weights = random_weights(generator, dim, runs)
    inputs = normal(generator, *runs, batch, 2 * n_pairs + 1, 2 * dim)
    expected = np.empty((*runs, batch, dim))
    for run in np.ndindex(*runs):
        w1, w2, w3 = (weight[run].numpy() for weight in weights)
        for i in range(batch):
            x = inputs[run][i].numpy()
            expected[(*run, i)] = oracle.output(w1, w2, w3, x, mask == "strict")
    close(models.disentangled_output(weights, inputs, mask=mask), expected)


@pytest.mark.parametrize(("mask", "first"), [("strict", 1), ("causal", 0)])
def test_a_window_shows_that_many_positions_back(mask, first):
    for row, seen in enumerate(models.allowed_positions(6, mask, CPU, 2)):
        back = [row - column for column in range(6) if seen[column]]
        assert back == [b for b in range(2, first - 1, -1) if row - b >= 0]
    refused(ValueError, "at least one position", models.allowed_positions, 6, mask, CPU, 0)


@pytest.mark.parametrize(("mask", "first_hidden"), [("strict", 0), ("causal", 1)])
@pytest.mark.parametrize("value", [-50.0, 1e30])
def test_attention_ignores_what_it_may_not_see(mask, first_hidden, value):
    scores = normal(stream(), 6, 6)
    allowed = models.allowed_positions(6, mask, CPU)
    before = models.attention(scores, allowed)
    for row in range(6):
        changed = scores.clone()
        changed[row, row + first_hidden :] = value
        assert torch.equal(models.attention(changed, allowed), before)
    assert torch.all(before.triu(first_hidden) == 0)
    rows_that_see = before[1 - first_hidden :].sum(dim=-1)
    assert (rows_that_see - 1).abs().max() < 1e-14


@pytest.mark.parametrize("output", [models.disentangled_output, fast.disentangled_output])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [0.0, 100.0])
def test_the_empty_first_row_is_harmless(random_weights, output, dtype, scale):
    """Strict mask: position 1 retrieves zero; values and gradients stay finite at any scale."""
    allowed = models.allowed_positions(4, "strict", CPU)
    assert torch.all(models.attention(normal(stream(), 4, 4), allowed)[0] == 0)
    generator = stream()
    weights = random_weights(generator, 4, scale=scale, dtype=dtype)
    weights = Weights(*(weight.requires_grad_() for weight in weights))
    batch = tasks.gaussian_pairs(3, 2, 4, generator=generator, dtype=dtype)
    error = output(weights, batch.inputs) - batch.target
    gradients = torch.autograd.grad(error.square().sum(), weights)
    assert all(torch.isfinite(part).all() for part in (error, *gradients))


def loop_logits(model, tokens, positions, strict):
    """The logits (length, vocabulary) of one sequence, position by position (§2.1)."""
    p = {name: value.detach().numpy() for name, value in model.named_parameters()}
    h = [p["W_E"][:, t] + p["W_pos"][:, i] for t, i in zip(tokens, positions, strict=True)]
    for layer in "01":
        query, key, value, project = (p[f"{name}.{layer}"] for name in ("W_Q", "W_K", "W_V", "W_O"))
        written = []
        for i in range(len(h)):
            seen = h[: i if strict else i + 1]
            scores = np.array([(query @ h[i]) @ (key @ k) / np.sqrt(len(query)) for k in seen])
            weights = np.exp(scores) / np.exp(scores).sum()
            mixture = sum((w * k for w, k in zip(weights, seen, strict=True)), 0 * h[i])
            written.append(project @ (value @ mixture))
        h = [old + new for old, new in zip(h, written, strict=True)]
    return np.array([p["W_U"] @ row for row in h])


@pytest.mark.parametrize("mask", MASKS)
def test_transformer_is_the_loop(close, mask):
    model, batch = attentive(), token_batch()
    sequences = zip(batch.tokens.tolist(), batch.positions.tolist(), strict=True)
    expected = [loop_logits(model, *sequence, mask == "strict") for sequence in sequences]
    close(model(batch.tokens, batch.positions, mask=mask).detach(), np.array(expected))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("logits", [AttentionOnlyTransformer.forward, fast.attention_only_logits])
def test_transformer_is_causal(close, mask, logits):
    """Changing a token changes no logit before it, and some logit at and after it."""
    model, batch = attentive(), token_batch()
    before = logits(model, batch.tokens, batch.positions, mask=mask)
    for i in range(batch.tokens.shape[1]):
        changed = batch.tokens.clone()
        changed[:, i] = (changed[:, i] + 1) % 7
        after = logits(model, changed, batch.positions, mask=mask)
        assert torch.equal(after[:, :i], before[:, :i])
        assert (after - before)[:, i:].abs().amax(dim=(0, 2)).min() > 1e-6


@pytest.mark.parametrize("maps", ["default", "normal", "xavier"])
def test_transformer_starts_as_documented(maps):
    options, bound = {"embedding_scale": 0.1, "maps": maps}, 64**-0.5
    model, again = (
        AttentionOnlyTransformer(64, 32, 32, **options, generator=stream(1)) for _ in range(2)
    )
    assert all(map(torch.equal, model.parameters(), again.parameters()))
    for embedding in (model.W_E, model.W_pos):
        assert abs(embedding.std() - 0.1) < 5 * 0.1 / (2 * embedding.numel()) ** 0.5
    linear = [p for name, p in model.named_parameters() if name not in ("W_E", "W_pos")]
    assert len(linear) == 9
    for matrix in linear:
        if maps == "default":  # uniform
            assert 0.99 * bound < matrix.abs().max() <= bound
            assert abs(matrix.mean()) < 5 * bound / (3 * matrix.numel()) ** 0.5
        else:
            expected = 0.02 if maps == "normal" else (2 / sum(matrix.shape)) ** 0.5
            assert abs(matrix.std() - expected) < 5 * expected / (2 * matrix.numel()) ** 0.5
            assert matrix.abs().max() > 2.5 * expected  # not uniform


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_mask_and_unknown_initial_maps_raise():
    refused(ValueError, "mask must be", models.allowed_positions, 3, "loose", CPU)
    refused(ValueError, "maps must be one of", drawn, maps="ones", generator=stream())


def test_unscaled_scores_are_those_of_larger_queries(close):
    scaled, other = (drawn(16, scaled=scaled, generator=stream(1)) for scaled in (True, False))
    tokens, positions, _ = token_batch()
    assert not torch.allclose(scaled(tokens, positions), other(tokens, positions))
    with torch.no_grad():
        for query in scaled.W_Q:
            query *= 4.0
    for logits in (AttentionOnlyTransformer.forward, fast.attention_only_logits):
        close(logits(scaled, tokens, positions), logits(other, tokens, positions))


windows = st.tuples(*[st.none() | st.integers(1, 12)] * 2)
SIZES = {
    "n_pairs": st.integers(1, 5), "half": st.integers(1, 4), "mask": masks, "seed": seeds,
    "runs": st.sampled_from([(), (1,), (3,), (2, 2)]),
}  # fmt: skip
ROWS = [slice(None), slice(-1, None), slice(2, 5), slice(0, 1), slice(1, None, 2)]


@given(**SIZES, windows=windows)
def test_disentangled_output(close, random_weights, n_pairs, half, runs, mask, windows, seed):
    generator, dim = stream(seed), 2 * half
    weights = Weights(*(part.requires_grad_() for part in random_weights(generator, dim, runs)))
    inputs = normal(generator, *runs, 3, 2 * n_pairs + 1, 2 * dim)
    dense, quick = (
        output(weights, inputs, mask=mask, windows=windows)
        for output in (models.disentangled_output, fast.disentangled_output)
    )
    close(quick, dense)
    same_gradients(close, quick, dense, weights, 1e-12)


@given(**SIZES)
def test_induction_head_output(close, n_pairs, half, runs, mask, seed):
    generator, dim = stream(seed), 2 * half
    head = normal(generator, *runs, 3).requires_grad_()
    inputs = normal(generator, *runs, 3, 2 * n_pairs + 1, 2 * dim)
    place = torch.eye(19, dtype=torch.float64)[HEAD]
    weights = embed(PseudoParameters.unstack(head @ place), dim)
    dense = models.disentangled_output(weights, inputs, mask=mask)
    quick = fast.induction_head_output(head, inputs, mask=mask)
    close(quick, dense)
    same_gradients(close, quick, dense, [head], 1e-12)


def test_no_gradient_for_inputs_is_said_not_guessed(random_weights):
    inputs, head = normal(stream(), 2, 5, 8).requires_grad_(), normal(stream(), 3)
    weights, message = random_weights(stream(), 4), "no gradient for inputs"
    refused(ValueError, message, fast.disentangled_output, weights, inputs)
    refused(ValueError, message, fast.induction_head_output, head, inputs)


@given(
    n_pairs=sizes, dim=st.integers(1, 9), spare=st.integers(0, 4), mask=masks,
    rows=st.sampled_from(ROWS), seed=seeds,
)  # fmt: skip
def test_attention_only_logits(close, n_pairs, dim, spare, mask, rows, seed):
    """Also for fewer dimensions than basis vectors, unused tokens and unused positions."""
    generator, vocabulary, block = stream(seed), 2 * n_pairs + spare, 2 * n_pairs + 1 + spare
    model = drawn(dim, vocabulary, block, generator=generator)
    batch = tasks.token_pairs(3, n_pairs, vocabulary, block, generator=generator)
    dense = model(batch.tokens, batch.positions, mask=mask)[:, rows]
    quick = fast.attention_only_logits(model, batch.tokens, batch.positions, mask=mask, rows=rows)
    close(quick, dense)
    same_gradients(close, quick, dense, list(model.parameters()), 1e-12)


@pytest.mark.parametrize("layer", [0, 1])
def test_key_query_products_are_attention_scores(close, layer):
    """Entry (i, j) is what basis vector i, as query, pays to j, as key: D^(-1/2) (Qi).(Kj)."""
    model, basis = drawn(6, 5, 5, generator=stream()), normal(stream(), 6, 4)
    products = fast.key_query_products(model, basis, layer)
    for i, j in np.ndindex(4, 4):
        query, key = model.W_Q[layer] @ basis[:, i], model.W_K[layer] @ basis[:, j]
        close(products[i, j], query.dot(key) / 6**0.5)


def squared_norm(weights):
    return sum(weight.square().sum(dim=(-2, -1)) for weight in weights)


@given(half=sizes, seed=seeds)
def test_embed_is_equations_6_to_8(half, seed):
    pseudo = PseudoParameters.unstack(0.4 * normal(stream(seed), 19))
    value = dict(zip(NAMES, pseudo.stacked().tolist(), strict=True))
    alpha, beta, gamma = (
        [value[f"{letter}_{i + 1}"] for i in range(count)]
        for letter, count in (("alpha", 3), ("beta", 12), ("gamma", 4))
    )
    expected = oracle.structured_weights(alpha, beta, gamma, 2 * half)
    for weight, structured in zip(embed(pseudo, 2 * half), expected, strict=True):
        assert (weight.numpy() == structured).all()
    for dim in (0, 3, -2):
        refused(ValueError, "even", embed, pseudo, dim)


@given(half=sizes, seed=seeds, runs=run_shapes)
def test_projection_is_orthogonal_and_inverts_embed(close, random_weights, half, seed, runs):
    """Pythagoras: |W|^2 = |PW|^2 + |W - PW|^2 for any W, so nothing in the subspace is nearer."""
    weights = random_weights(stream(seed), 2 * half, runs)
    pseudo, outside = project(weights)
    structured = embed(pseudo, 2 * half)
    close(squared_norm(structured) + outside**2, squared_norm(weights))
    assert outside.shape == runs
    assert outside.min() > 0.1
    again, nothing = project(structured)
    close(again.stacked(), pseudo.stacked())
    assert nothing.max() < 1e-14
