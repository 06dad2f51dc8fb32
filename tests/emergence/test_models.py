"""Both networks against independent loops, the fast methods against both, and the subspace."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from emergence import fast, models, tasks
from emergence.models import AttentionOnlyTransformer, Weights
from emergence.subspace import HEAD, NAMES, PseudoParameters, embed, project
from oracles import elementwise as oracle

MASKS = ["strict", "causal"]
masks = st.sampled_from(MASKS)
sizes = st.integers(1, 4)
seeds = st.integers(0, 2**31)
run_shapes = st.sampled_from([(), (2,), (2, 3)])


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, generator):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def gradients(weights, inputs, target, mask="strict", output=models.disentangled_output):
    weights = Weights(*(weight.clone().requires_grad_() for weight in weights))
    loss = (output(weights, inputs, mask=mask) - target).square().sum()
    return Weights(*torch.autograd.grad(loss, weights))


def transformer(seed=0, dim=6, vocabulary=7, block_size=12):
    """In double precision, with attention far from uniform."""
    model = AttentionOnlyTransformer(
        dim, vocabulary, block_size, embedding_scale=1.0, generator=stream(seed)
    ).double()
    with torch.no_grad():
        for query in model.W_Q:
            query *= 5
    return model


def token_batch(seed=0):
    return tasks.token_pairs(5, 3, 7, 12, generator=stream(seed))


@pytest.mark.slow("they are checked where slow tests run, too")
def test_shapes_are_checked_in_the_tests():
    with pytest.raises(TypeCheckError, match="allowed"):
        models.attention(torch.zeros(3, 4), torch.ones(3, 3, dtype=torch.bool))


# The disentangled transformer


@given(n_pairs=sizes, half=st.integers(1, 3), runs=run_shapes, mask=masks, seed=seeds)
def test_disentangled_output_is_equation_1(close, random_weights, n_pairs, half, runs, mask, seed):
    generator, dim, batch = stream(seed), 2 * half, 2
    weights = random_weights(generator, dim, runs)
    inputs = normal(*runs, batch, 2 * n_pairs + 1, 2 * dim, generator=generator)
    expected = np.empty((*runs, batch, dim))
    for run in np.ndindex(*runs):
        w1, w2, w3 = (weight[run].numpy() for weight in weights)
        for i in range(batch):
            x = inputs[run][i].numpy()
            expected[(*run, i)] = oracle.output(w1, w2, w3, x, mask == "strict")
    close(models.disentangled_output(weights, inputs, mask=mask), expected)


@pytest.mark.parametrize("mask", MASKS)
def test_autograd_is_the_finite_difference(close, random_weights, mask):
    generator = stream(3)
    weights, inputs = random_weights(generator, 2), normal(1, 5, 4, generator=generator)
    target = normal(1, 2, generator=generator)
    arrays = [weight.numpy() for weight in weights]
    for k, gradient in enumerate(gradients(weights, inputs, target, mask)):

        def loss(array, k=k):
            parts = [*arrays[:k], array, *arrays[k + 1 :]]
            return oracle.loss(*parts, inputs[0].numpy(), target[0].numpy(), mask == "strict")

        assert gradient.abs().max() > 1e-2
        close(gradient, oracle.finite_difference(loss, arrays[k], 1e-5), 1e-8)


# Attention and its masks


@pytest.mark.parametrize("mask", ["strict", "causal"])
def test_a_window_shows_that_many_positions_back(mask):
    allowed = models.allowed_positions(6, mask, torch.device("cpu"), 2)
    for row, seen in enumerate(allowed):
        first = 1 if mask == "strict" else 0
        back = [row - column for column in range(6) if seen[column]]
        assert back == [b for b in range(2, first - 1, -1) if row - b >= 0]
    with pytest.raises(ValueError, match="at least one position"):
        models.allowed_positions(6, mask, torch.device("cpu"), 0)


@given(length=st.integers(1, 6), mask=masks, seed=seeds)
def test_attention_is_the_masked_softmax(close, length, mask, seed):
    scores = 3 * normal(2, length, length, generator=stream(seed))
    allowed = models.allowed_positions(length, mask, scores.device)
    expected = [oracle.attention(s.numpy(), mask == "strict") for s in scores]
    close(models.attention(scores, allowed), np.array(expected))


@pytest.mark.parametrize(("mask", "first_hidden"), [("strict", 0), ("causal", 1)])
@pytest.mark.parametrize("value", [-50.0, 1e30])
def test_attention_ignores_what_it_may_not_see(mask, first_hidden, value):
    scores = normal(6, 6, generator=stream())
    allowed = models.allowed_positions(6, mask, scores.device)
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
    allowed = models.allowed_positions(4, "strict", torch.device("cpu"))
    assert torch.all(models.attention(normal(4, 4, generator=stream()), allowed)[0] == 0)
    generator = stream()
    weights = random_weights(generator, 4, scale=scale, dtype=dtype)
    batch = tasks.gaussian_pairs(3, 2, 4, generator=generator, dtype=dtype)
    assert torch.isfinite(output(weights, batch.inputs)).all()
    for gradient in gradients(weights, batch.inputs, batch.target, output=output):
        assert torch.isfinite(gradient).all()


# The attention-only transformer


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
    model, batch = transformer(), token_batch()
    sequences = zip(batch.tokens.tolist(), batch.positions.tolist(), strict=True)
    expected = [loop_logits(model, *sequence, mask == "strict") for sequence in sequences]
    close(model(batch.tokens, batch.positions, mask=mask).detach(), np.array(expected))


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("logits", [AttentionOnlyTransformer.forward, fast.attention_only_logits])
def test_transformer_is_causal(close, mask, logits):
    """Changing a token changes no logit before it, and some logit at and after it."""
    model, batch = transformer(), token_batch()
    before = logits(model, batch.tokens, batch.positions, mask=mask)
    for i in range(batch.tokens.shape[1]):
        changed = batch.tokens.clone()
        changed[:, i] = (changed[:, i] + 1) % 7
        after = logits(model, changed, batch.positions, mask=mask)
        assert torch.equal(after[:, :i], before[:, :i])
        assert (after - before)[:, i:].abs().amax(dim=(0, 2)).min() > 1e-6


def test_transformer_starts_as_documented():
    dim = 64
    model, again = (
        AttentionOnlyTransformer(dim, 32, 32, embedding_scale=0.1, generator=stream(1))
        for _ in range(2)
    )
    for embedding in (model.W_E, model.W_pos):
        deviation = 0.1 / (2 * embedding.numel()) ** 0.5
        assert abs(embedding.std() - 0.1) < 5 * deviation
    bound = dim**-0.5
    linear = [p for name, p in model.named_parameters() if name not in ("W_E", "W_pos")]
    assert len(linear) == 9
    for matrix in linear:
        assert 0.99 * bound < matrix.abs().max() <= bound
        assert abs(matrix.mean()) < 5 * bound / (3 * matrix.numel()) ** 0.5
    pairs = zip(model.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(weights, two) for weights, two in pairs)


@pytest.mark.parametrize("maps", ["normal", "xavier"])
def test_initial_maps_have_their_deviation(maps):
    dim, vocabulary = 64, 32
    options = {"embedding_scale": 0.1, "maps": maps}
    model = AttentionOnlyTransformer(dim, vocabulary, 32, **options, generator=stream(1))
    for name, matrix in model.named_parameters():
        if name in ("W_E", "W_pos"):
            continue
        expected = 0.02 if maps == "normal" else (2 / sum(matrix.shape)) ** 0.5
        assert abs(matrix.std() - expected) < 5 * expected / (2 * matrix.numel()) ** 0.5
        assert matrix.abs().max() > 2.5 * expected  # not uniform


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_mask_and_unknown_initial_maps_raise():
    with pytest.raises(ValueError, match="mask must be"):
        models.allowed_positions(3, "loose", torch.device("cpu"))
    with pytest.raises(ValueError, match="maps must be one of"):
        AttentionOnlyTransformer(4, 4, 5, embedding_scale=1.0, maps="ones", generator=stream(1))


def test_unscaled_scores_are_those_of_larger_queries(close):
    unscaled, other = (
        AttentionOnlyTransformer(
            16, 7, 12, embedding_scale=1.0, scaled=scaled, generator=stream(1)
        ).double()
        for scaled in (True, False)
    )
    batch = token_batch()
    assert not torch.allclose(
        unscaled(batch.tokens, batch.positions), other(batch.tokens, batch.positions)
    )
    with torch.no_grad():
        for query in unscaled.W_Q:
            query *= 4.0
    for logits in (AttentionOnlyTransformer.forward, fast.attention_only_logits):
        result = [logits(model, batch.tokens, batch.positions) for model in (unscaled, other)]
        close(*result)


windows = st.tuples(*[st.none() | st.integers(1, 12)] * 2)
SIZES = {
    "n_pairs": st.integers(1, 5), "half": st.integers(1, 4), "mask": masks, "seed": seeds,
    "runs": st.sampled_from([(), (1,), (3,), (2, 2)]),
}  # fmt: skip
ROWS = [slice(None), slice(-1, None), slice(2, 5), slice(0, 1), slice(1, None, 2)]


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
    place = torch.eye(19, dtype=torch.float64)[HEAD]

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


halves = st.integers(1, 4)


def random_pseudo(generator, runs=()):
    values = torch.randn(*runs, 19, generator=generator, dtype=torch.float64)
    return PseudoParameters.unstack(0.4 * values)


def squared_norm(weights):
    return sum(weight.square().sum(dim=(-2, -1)) for weight in weights)


@given(half=halves, seed=seeds)
def test_embed_is_equations_6_to_8(half, seed):
    pseudo = random_pseudo(stream(seed))
    expected = oracle.structured_weights(*(part.tolist() for part in pseudo), 2 * half)
    for weight, structured in zip(embed(pseudo, 2 * half), expected, strict=True):
        assert (weight.numpy() == structured).all()


def test_names_are_in_the_order_of_the_values():
    assert len(NAMES) == len(set(NAMES)) == 19
    for name, only in zip(NAMES, torch.eye(19, dtype=torch.float64), strict=True):
        letter, index = name.split("_")
        values = {"alpha": np.zeros(3), "beta": np.zeros(12), "gamma": np.zeros(4)}
        values[letter][int(index) - 1] = 1.0
        weights = embed(PseudoParameters.unstack(only), 4)
        expected = oracle.structured_weights(**values, dim=4)
        assert all((w.numpy() == two).all() for w, two in zip(weights, expected, strict=True)), name


@given(half=halves, seed=seeds, runs=run_shapes)
def test_project_inverts_embed(close, half, seed, runs):
    pseudo = random_pseudo(stream(seed), runs)
    again, outside = project(embed(pseudo, 2 * half))
    close(again.stacked(), pseudo.stacked())
    assert outside.shape == runs
    assert outside.max() < 1e-14


@given(half=halves, seed=seeds, runs=run_shapes)
def test_projection_is_orthogonal(close, random_weights, half, seed, runs):
    """Pythagoras: |W|^2 = |PW|^2 + |W - PW|^2 for any W, so nothing in the subspace is nearer."""
    weights = random_weights(stream(seed), 2 * half, runs)
    pseudo, outside = project(weights)
    close(squared_norm(embed(pseudo, 2 * half)) + outside**2, squared_norm(weights))
    assert outside.min() > 0.1


@pytest.mark.parametrize("dim", [0, 3, -2])
def test_odd_or_empty_dimension_raises(dim):
    with pytest.raises(ValueError, match="even"):
        embed(random_pseudo(stream()), dim)
