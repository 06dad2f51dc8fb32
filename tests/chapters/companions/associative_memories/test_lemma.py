"""The one-step lemma against sums written out, autograd and finite differences."""

import math

import pytest
import torch

from chapters.companions.associative_memories import lemma


@pytest.fixture
def problem():
    """Random embeddings, weights and joint distribution, with different numbers of z and y."""
    stream = torch.Generator().manual_seed(0)
    e = lemma.unit(5, 4, stream, torch.float64)
    u = lemma.unit(3, 4, stream, torch.float64)
    w = torch.randn(4, 4, generator=stream, dtype=torch.float64)
    joint = torch.rand(5, 3, generator=stream, dtype=torch.float64)
    return w, u, e, joint / joint.sum()


def drawn(kind, n, dim, seed):
    """Inputs and outputs of a kind, and a stream that goes on."""
    stream = torch.Generator().manual_seed(seed)
    return *(kind(n, dim, stream, torch.float64) for _ in range(2)), stream


def cross_entropy(w, u, e, joint):
    """The loss in pure Python."""
    total = 0.0
    for z in range(len(e)):
        logits = [float(u_k @ w @ e[z]) for u_k in u]
        log_sum = math.log(sum(map(math.exp, logits)))
        total -= sum(float(joint[z, k]) * (logits[k] - log_sum) for k in range(len(u)))
    return total


def test_gradient_is_the_slope_of_the_loss(problem):
    w, u, e, joint = problem
    found = lemma.gradient(w, u, e, joint)
    for i, j in ((0, 0), (1, 3), (3, 2)):
        step = torch.zeros_like(w)
        step[i, j] = 1e-5
        high, low = (cross_entropy(w + sign * step, u, e, joint) for sign in (1, -1))
        assert float(found[i, j]) == pytest.approx((high - low) / 2e-5, abs=1e-9)


def test_gradient_is_autograds(problem, close):
    w, u, e, joint = problem
    close(lemma.gradient(*problem), lemma.autograd(w, lambda w: e @ w.T @ u.T, joint), 1e-13)


def test_one_layer_down_backward_vectors_stand_for_outputs(problem, close):
    _, u, e, joint = problem
    stream = torch.Generator().manual_seed(4)
    a = torch.randn(7, 4, generator=stream, dtype=torch.float64)
    v = torch.randn(4, 7, generator=stream, dtype=torch.float64)
    found = lemma.backward_gradient(a, v, u, e, joint)
    close(found, lemma.autograd(a, lambda a: (e @ a.T).relu() @ v.T @ u.T, joint), 1e-13)
    # without the kinks the backward vector is u_k seen through the layer above
    close(
        lemma.backward_gradient(a.abs(), v, u, e.abs(), joint),
        lemma.gradient(v @ a.abs(), u, e.abs(), joint).T.matmul(v).T,
        1e-13,
    )


def test_gradient_is_the_sum_of_the_lemma(problem, close):
    w, u, e, joint = problem
    total = torch.zeros(4, 4, dtype=torch.float64)
    for z in range(5):
        p_hat = torch.softmax(u @ w @ e[z], dim=0)
        for k in range(3):
            excess = p_hat[k] * joint[z].sum() - joint[z, k]
            total += excess * torch.outer(u[k], e[z])
    close(lemma.gradient(w, u, e, joint), total, 1e-13)


def test_one_step_is_a_step_down_the_gradient_from_zero(close):
    e, u, stream = drawn(lemma.unit, 6, 8, 1)
    f = torch.randperm(6, generator=stream)
    joint = torch.zeros(6, 6, dtype=torch.float64)
    joint[torch.arange(6), f] = 1 / 6
    zero = torch.zeros(8, 8, dtype=torch.float64)
    step = -0.7 * lemma.autograd(zero, lambda w: e @ w.T @ u.T, joint)
    close(lemma.one_step(u, e, f, 0.7), step, 1e-13)


def test_orthonormal_embeddings_store_exactly(close):
    e, u, stream = drawn(lemma.orthonormal, 6, 9, 2)
    f = torch.randperm(6, generator=stream)
    w = lemma.one_step(u, e, f, 3.0)
    wanted = torch.full((6, 6), -3 / 36, dtype=torch.float64)
    wanted[f, torch.arange(6)] += 3 / 6
    close(u @ w @ e.T, wanted, 1e-13)
    assert lemma.recalled(w, u, e, f) == 1.0


def test_the_step_is_the_hebbian_sum_around_its_mean(close):
    e, u, _ = drawn(lemma.unit, 7, 5, 3)
    f = torch.arange(7)
    mean = torch.outer(u.mean(dim=0), e.sum(dim=0))
    close(lemma.one_step(u, e, f, 7.0), lemma.hebbian(u, e, f) - mean, 1e-13)


def test_too_many_orthonormal_embeddings_are_refused():
    with pytest.raises(ValueError, match="cannot be orthonormal"):
        lemma.orthonormal(5, 4, torch.Generator(), torch.float64)


def test_logits_of_random_embeddings_stray_as_expected():
    n, dim, draws = 6, 10, 2000
    stream, f = torch.Generator().manual_seed(0), torch.arange(n)
    ideal = torch.eye(n, dtype=torch.float64) - 1 / n
    squares = []
    for _ in range(draws):
        u, e = (lemma.unit(n, dim, stream, torch.float64) for _ in range(2))
        squares.append((u @ lemma.one_step(u, e, f, float(n)) @ e.T - ideal).square().mean())
    assert float(torch.stack(squares).mean()) ** 0.5 == pytest.approx(lemma.stray(n, dim), rel=0.01)


def test_a_steps_recall_is_that_of_overlaps():
    n, dim, draws = 30, 30, 300
    expected = lemma.step_recall(float(n), dim)
    stream, f = torch.Generator().manual_seed(5), torch.arange(30)
    found = []
    for _ in range(draws):
        u, e = (lemma.unit(n, dim, stream, torch.float64) for _ in range(2))
        found.append(lemma.recalled(lemma.one_step(u, e, f, 1.0), u, e, f))
    assert 0.9 < expected < 0.98
    assert sum(found) / draws == pytest.approx(expected, abs=0.01)
    assert lemma.step_recall(float(n), 10 * dim) == pytest.approx(1, abs=1e-9)
