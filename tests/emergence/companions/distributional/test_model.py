"""Causality, truncation, the noisy sampler and what is scored."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from emergence.companions.birth import bigrams
from emergence.companions.birth import model as birth
from emergence.companions.distributional import PRESET, model, spectrum, task, training

ROOT = Path(__file__).parents[4]
COUNTS = bigrams.read((ROOT / "data/shakespeare_bigrams.csv").read_text(encoding="ascii"))
WHAT = task.make(COUNTS)
TRIGGER = int(WHAT.triggers[0])


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(length=12):
    found = model.draw(66, length, 16, 24, generator=stream())
    return model.Model(
        birth.Frozen(*(part.double() for part in found.frozen)),
        birth.Trained(tuple(3 * part.double() for part in found.heads.kq), found.heads.o.double()),
        *(model.FeedForward(*(part.double() for part in layer)) for layer in found[2:]),
    )


def test_without_feed_forward_layers_it_is_the_model_of_birth(close):
    full = drawn()
    empty = full._replace(
        first=model.FeedForward(*(0 * part for part in full.first)),
        last=model.truncated(full.last, 0.0),
    )
    tokens = torch.randint(66, (3, 12), generator=stream(1))
    at = torch.arange(12).expand(3, 12)
    close(model.logits(empty, tokens, at), birth.logits(full.frozen, full.heads, tokens), 1e-10)
    assert not torch.allclose(model.logits(full, tokens, at), model.logits(empty, tokens, at))


def test_the_future_is_hidden(close):
    tokens = torch.randint(66, (2, 12), generator=stream(1))
    changed = tokens.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % 66
    at = torch.tensor([[2, 6], [0, 6]])
    close(model.logits(drawn(), tokens, at), model.logits(drawn(), changed, at))


def test_kept_is_the_nearest_of_its_rank(close):
    w = torch.randn(6, 10, generator=stream(), dtype=torch.float64)
    close(model.kept(w, 1.0), w, 1e-10)
    assert not model.kept(w, 0.0).any()
    half = model.kept(w, 0.5)
    assert torch.linalg.matrix_rank(half) == 3
    lost = torch.linalg.eigvalsh(w @ w.T)[:3].sum()  # Eckart and Young
    close((w - half).square().sum(), lost, 1e-10)


def test_truncation_of_a_layer_takes_a_share_of_each_matrix():
    layer = drawn().last  # 24 times 16 and 16 times 24
    for w in model.truncated(layer, 0.25):
        assert torch.linalg.matrix_rank(w) == 4
    assert torch.linalg.matrix_rank(model.truncated(layer, 0.1).w_in) == 2


def test_part_by_power_iteration(close):
    w = torch.randn(6, 10, generator=stream(), dtype=torch.float64)
    v = torch.ones(10, dtype=torch.float64)
    for _ in range(2000):
        v = w.T @ (w @ v)
        v /= v.norm()
    first = torch.outer(w @ v, v)
    close(model.part(w, slice(1)), first, 1e-10)
    close(model.part(w, slice(1, None)), w - first, 1e-10)


@pytest.mark.parametrize("which", ["both", "in", "out"])
def test_kept_and_dropped_parts_of_the_named_matrix(which, close):
    layer = drawn().last
    kept, dropped = (spectrum.parted(layer, s, which) for s in (slice(3), slice(3, None)))
    for name in ("w_in", "w_out"):
        w, a, b = (getattr(one, name) for one in (layer, kept, dropped))
        if which in ("both", name.removeprefix("w_")):
            close(a + b, w, 1e-10)
            assert torch.linalg.matrix_rank(a) == 3
        else:
            assert torch.equal(a, w)
            assert torch.equal(b, w)


def test_leading_value_of_a_planted_association():
    u = torch.nn.functional.normalize(torch.randn(9, generator=stream()), dim=0)
    w = 0.1 * torch.randn(9, 12, generator=stream(1)) + 50 * torch.outer(u, torch.ones(12))
    ratio, cosine = spectrum.leading(w, -3 * u)
    assert ratio > 100
    assert cosine > 0.999


def test_answers_are_those_of_the_whole_model():
    """Against logits computed token by token with the layer in its place."""
    settings = PRESET["smoke"].settings
    full = model.draw(66, settings.length, settings.dim, settings.width, generator=stream())
    batches = training.tests(settings, COUNTS, 0, torch.device("cpu"))
    tested = training.brought(full, batches, TRIGGER)
    cut = spectrum.parted(full.last, slice(2), "out")
    swapped = full._replace(last=cut)
    found = training.answered(cut, full.frozen.u, *tested)
    wanted = []
    for i, batch in enumerate(batches):
        at, real = task.rows_of(task.answerable(batch, TRIGGER))
        wanted.append(task.shares(model.logits(swapped, batch.tokens, at), batch, real)[i])
    assert found == pytest.approx(wanted)
    by_count = spectrum.by_count(full, (2,), tested, drop=False, which="out")
    assert (by_count.noise[0], by_count.clean[0]) == pytest.approx(found)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_what_follows_the_trigger(alpha):
    batch = task.sample(WHAT, 400, 60, alpha, generator=stream())
    here = batch.tokens == TRIGGER
    noisy = batch.targets == 65
    outputs = batch.outputs[:, None].expand_as(batch.targets)
    assert not (noisy & ~here).any()
    assert noisy[here].double().mean().item() == pytest.approx(alpha, abs=0.02)
    assert (batch.targets == outputs)[here & ~noisy].all()
    assert (batch.tokens[:, 1:] == batch.targets[:, :-1]).all()


def test_other_tokens_follow_the_chain_and_noise_starts_afresh():
    batch = task.sample(WHAT, 3000, 60, 0.5, generator=stream())
    for token, wanted in ((65, COUNTS.unigram), (int(COUNTS.most_frequent(2)[1]), None)):
        wanted = COUNTS.conditional[token] if wanted is None else wanted
        after = batch.targets[batch.tokens == token]
        found = np.bincount(after.numpy(), minlength=66) / len(after)
        assert np.abs(found[:65] - wanted).max() < 0.02
        assert found[65] == 0


def test_scored_positions_by_hand():
    q, noise, o = TRIGGER, 65, 7
    z = torch.tensor([[q, noise, q, o, q, noise, 3, q, o]])
    batch = task.Batch(z[:, :-1], z[:, 1:], torch.tensor([o]))
    assert task.answerable(batch, q).nonzero()[:, 1].tolist() == [4, 7]
    assert task.repeated(batch, q).nonzero()[:, 1].tolist() == [2, 4, 7]
    at, real = task.rows_of(task.repeated(batch, q))
    assert at.tolist() == [[2, 4, 7]]
    assert real.all()


def test_shares_by_hand():
    batch = task.Batch(torch.zeros(1, 3).long(), torch.zeros(1, 3).long(), torch.tensor([1]))
    logits = torch.tensor([[[0.0, 0.0, np.log(2)], [0.0, 9.0, 0.0], [5.0, 5.0, 5.0]]])
    real = torch.tensor([[True, True, False]])
    noise, accuracy = task.shares(logits, batch, real)
    assert noise == pytest.approx((0.5 + 1 / (2 + np.exp(9))) / 2, rel=1e-6)
    assert accuracy == 0.5


def test_training_learns_noise_and_repeats():
    settings = PRESET["smoke"].settings
    runs = [training.train(settings, COUNTS, 3, device=torch.device("cpu")) for _ in range(2)]
    assert np.array_equal(runs[0].loss, runs[1].loss)
    assert runs[0].loss[-5:].mean() < runs[0].loss[:5].mean()
    assert runs[0].noise.shape == (3, len(settings.shares) + 1)
    assert runs[0].noise[-1, -1] > 0.3 > runs[0].noise[0, -1]


def test_a_diverged_run_says_so():
    settings = replace(PRESET["smoke"].settings, learning_rate=1e30)
    with pytest.raises(ArithmeticError, match=r"broken: the loss is not finite at step \d"):
        training.train(settings, COUNTS, 0, device=torch.device("cpu"), label="broken")
