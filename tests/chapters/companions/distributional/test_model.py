"""The network by hand, causality, truncation; the noisy sampler and what is scored."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.companions.birth.task import rows_of
from chapters.companions.distributional import Recipe, model, task, training
from oracles.birth_counts import COUNTS

WHAT = task.make(COUNTS)
TRIGGER = int(WHAT.triggers[0])
TINY = replace(
    Recipe(),
    length=24,
    dim=32,
    width=64,
    batch_size=16,
    steps=60,
    every=30,
    n_tested=32,
    precision="float32",
)
CPU = torch.device("cpu")


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(length=12):
    found = model.draw(65, length, 16, 24, generator=stream()).cast(torch.float64)
    return found._replace(u=found.u.double(), first=found.first._replace(k=5 * found.first.k))


def test_logits_by_hand(close):
    """One sequence, row by row, as the source's code reads."""
    own = drawn()
    z = torch.tensor([5, 1, 9, 1, 2])
    x = own.e[z] + own.p[:5]
    for layer in (own.first, own.last):
        keys, rows = x @ layer.k.T, []
        for s in range(5):
            pattern = (keys[: s + 1] @ x[s] / 16**0.5).softmax(0)
            told = x[s] + layer.o @ (layer.v @ (pattern @ x[: s + 1]))
            rows.append(told + layer.w_out @ (layer.w_in @ told).clamp(min=0))
        x = torch.stack(rows)
    at, real = torch.tensor([[1, 3, 4]]), torch.tensor([[True, False, True]])
    close(model.logits(own, z[None], at, real), (x @ own.u.T)[[1, 4]], 1e-10)


def test_the_future_is_hidden(close):
    tokens = torch.randint(65, (2, 12), generator=stream(1))
    other = tokens.clone()
    other[:, 7:] = (other[:, 7:] + 1) % 65
    at, real = torch.tensor([[2, 6], [0, 6]]), torch.ones(2, 2, dtype=torch.bool)
    close(model.logits(drawn(), tokens, at, real), model.logits(drawn(), other, at, real))


def test_another_number_format_changes_little():
    own = model.draw(65, 24, 32, 64, generator=stream())
    tokens = torch.randint(65, (4, 24), generator=stream(1))
    at, real = torch.arange(24).expand(4, 24), torch.ones(4, 24, dtype=torch.bool)
    exact = model.logits(own, tokens, at, real)
    low = model.logits(own.cast(torch.bfloat16), tokens, at, real)
    assert low.dtype == torch.float32
    assert 0 < (low - exact).abs().max() < 0.1


def test_kept_is_the_nearest_of_its_rank(close):
    w = torch.randn(6, 10, generator=stream(), dtype=torch.float64)
    own = drawn()
    own = own._replace(last=own.last._replace(w_in=w))
    whole, nothing, half, less = (
        model.truncated(own, "last", "w_in", share).last.w_in for share in (1.0, 0.0, 0.5, 0.49)
    )
    close(whole, w, 1e-10)
    assert not nothing.any()
    assert torch.linalg.matrix_rank(half) == 3
    lost = torch.linalg.eigvalsh(w @ w.T)[:3].sum()  # Eckart and Young
    close((w - half).square().sum(), lost, 1e-10)
    assert torch.linalg.matrix_rank(less) == 2  # rounded down, as in the code


def test_part_by_power_iteration(close):
    w = torch.randn(6, 10, generator=stream(), dtype=torch.float64)
    v = torch.ones(10, dtype=torch.float64)
    for _ in range(2000):
        v = w.T @ (w @ v)
        v /= v.norm()
    first = torch.outer(w @ v, v)
    close(model.part(w, slice(1)), first, 1e-10)
    close(model.part(w, slice(1, None)), w - first, 1e-10)


@pytest.mark.parametrize("layer", ["first", "last"])
@pytest.mark.parametrize("matrix", model.Layer._fields)
def test_one_matrix_is_truncated_and_no_other(layer, matrix):
    own = drawn()
    cut = model.truncated(own, layer, matrix, 0.25)
    for name in ("first", "last"):
        for part in model.Layer._fields:
            before, after = (getattr(getattr(one, name), part) for one in (own, cut))
            if (name, part) == (layer, matrix):
                assert torch.linalg.matrix_rank(after) == 4
            else:
                assert after is before


@pytest.mark.parametrize("matrix", ["w_in", "w_out"])
def test_nothing_kept_of_a_matrix_removes_its_layer(matrix, close):
    own = model.truncated(drawn(), "last", matrix, 0.0)
    x = torch.randn(3, 16, generator=stream(), dtype=torch.float64)
    close(model.answer(own, x), x @ own.u.T)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_what_follows_the_trigger(alpha):
    batch = task.sample(WHAT, 600, 60, alpha, generator=stream())
    here = batch.tokens == TRIGGER
    outputs = batch.outputs[:, None].expand_as(batch.targets)
    ordinary = here & (outputs != task.NOISE)
    noisy = batch.targets == task.NOISE
    assert noisy[ordinary].double().mean().item() == pytest.approx(alpha, abs=0.02)
    assert (batch.targets == outputs)[here & ~noisy].all()
    assert (batch.tokens[:, 1:] == batch.targets[:, :-1]).all()
    assert len(batch.outputs.unique()) == 65


@pytest.mark.parametrize("token", [task.NOISE, int(COUNTS.most_frequent(2)[1])])
def test_other_tokens_and_noise_follow_the_chain(token):
    batch = task.sample(WHAT, 3000, 60, 0.5, generator=stream())
    after = batch.targets[batch.tokens == token]
    found = np.bincount(after.numpy(), minlength=65) / len(after)
    assert np.abs(found - COUNTS.conditional[token]).max() < 0.02


def test_the_tokens_are_the_sources():
    assert (COUNTS.characters[TRIGGER], COUNTS.characters[task.NOISE]) == (" ", "!")


def test_scored_positions_by_hand():
    q, noise, o = TRIGGER, task.NOISE, 7
    z = torch.tensor([[q, noise, q, o, q, noise, 3, q, o]])
    batch = task.Batch(z[:, :-1], z[:, 1:], torch.tensor([o]))
    assert task.repeated(batch, q).nonzero()[:, 1].tolist() == [2, 4, 7]
    at, real = rows_of(task.repeated(batch, q))
    assert at.tolist() == [[2, 4, 7]]
    assert real.all()


def test_least_loss_by_bayes():
    """Against the posterior over o, updated token by token."""
    batch = task.sample(WHAT, 40, 40, 0.3, generator=stream())
    losses = []
    for z, after in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        belief, seen = np.full(65, 1 / 65), 0
        for here, target in zip(z, after, strict=True):
            if here != TRIGGER:
                continue
            likely = 0.7 * np.eye(65)[target] + 0.3 * (target == task.NOISE)
            if seen:
                losses.append(-np.log(belief @ likely))
            belief = belief * likely / (belief @ likely)
            seen += 1
    assert task.least_loss(batch, TRIGGER, 0.3, 65).item() == pytest.approx(np.mean(losses))


def test_shares_by_hand():
    logits = torch.tensor([[0.0, 0.0, np.log(2)], [0.0, 9.0, 0.0]])
    noise, accuracy = task.shares(logits, torch.tensor([1, 1]))
    assert noise.item() == pytest.approx((0.5 + 1 / (2 + np.exp(9))) / 2, rel=1e-5)
    assert accuracy.item() == 0.5


@pytest.mark.parametrize(
    ("z", "o", "pattern", "real", "wanted"),
    [
        (
            [7, TRIGGER, task.NOISE, TRIGGER, 7, task.NOISE, TRIGGER, 0],
            7,
            [[0.1, 0, 0.2, 0, 0.3, 0.4, 0], [1.0, 0, 0, 0, 0, 0, 0]],
            [True, False],
            [0.3, 0.2],
        ),
        (
            [TRIGGER, task.NOISE, TRIGGER, task.NOISE],
            task.NOISE,
            [[0.0, 0.7, 0.3]],
            [True],
            [0, 0.7],
        ),
    ],
    ids=["by hand", "o is noise"],
)
def test_looks(z, o, pattern, real, wanted):
    """Where o is the noise token, all of the mass counts as noise."""
    z = torch.tensor([z])
    batch = task.Batch(z[:, :-1], z[:, 1:], torch.tensor([o]))
    found = task.looks(torch.tensor([pattern]), batch, torch.tensor([real]), TRIGGER)
    assert [value.item() for value in found] == pytest.approx(wanted)


def test_measurements_are_dense_at_the_start():
    assert [step for step in range(301) if training.due(step, 100)] == [
        0, 20, 40, 60, 80, 100, 200, 300,
    ]  # fmt: skip


def test_training_learns_noise_and_repeats():
    runs = [training.train(TINY, COUNTS, 3, device=CPU) for _ in range(2)]
    assert np.array_equal(runs[0].loss, runs[1].loss)
    assert runs[0].loss[-5:].mean() < runs[0].loss[:5].mean()
    assert runs[0].probed.tolist() == [0, 6, 12, 18, 24, 30, 60]
    assert runs[0].readings[-1, 0] > 0.3 > runs[0].readings[0, 0]


def test_a_diverged_run_says_so():
    with pytest.raises(ArithmeticError, match=r"broken: the loss is not finite at step \d"):
        training.train(replace(TINY, learning_rate=1e30), COUNTS, 0, device=CPU, label="broken")
