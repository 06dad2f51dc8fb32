"""The fast method against the network as it is written, and that against its definition."""

import pytest
import torch

from chapters.companions.birth import fast, model, task
from oracles.birth_counts import COUNTS


def drawn(n_layers, dim=20, length=24, batch_size=21, seed=0):
    stream = torch.Generator().manual_seed(seed)
    frozen, trained = model.initial(65, length, dim, n_layers, generator=stream)
    frozen = model.Frozen(*(part.double() for part in frozen))
    kq = tuple(2 * part.double() for part in trained.kq)
    batch = task.sample(task.make(COUNTS, 5), batch_size, length, generator=stream)
    return frozen, model.Trained(kq, trained.o.double()), batch


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("group", [1, 4])
def test_fast_is_dense(n_layers, group, monkeypatch, close):
    monkeypatch.setattr(fast, "GROUP", group)
    frozen, trained, batch = drawn(n_layers)
    dense = model.loss_and_gradient(frozen, trained, batch)
    result = fast.loss_and_gradient(frozen, trained, batch)
    assert result.loss == pytest.approx(dense.loss, rel=1e-12)
    assert result.accuracy == pytest.approx(dense.accuracy)
    for ours, theirs in zip(model.parts(result.gradient), model.parts(dense.gradient), strict=True):
        close(ours, theirs, 1e-10)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_dense_model_by_loops(n_layers, close):
    frozen, trained, batch = drawn(n_layers, dim=6, length=5, batch_size=2)
    logits = model.logits(frozen, trained, batch.tokens)
    for tokens, result in zip(batch.tokens, logits, strict=True):
        x = [frozen.e[z] + frozen.p[t] for t, z in enumerate(tokens)]
        values = [frozen.ov1, trained.o @ frozen.v][-n_layers:]
        for kq, ov in zip(trained.kq, values, strict=True):
            rows = []
            for t in range(len(x)):
                scores = torch.stack([x[t] @ kq @ x[s] / 6**0.5 for s in range(t + 1)])
                seen = sum(w * x[s] for s, w in enumerate(scores.softmax(dim=0)))
                rows.append(x[t] + ov @ seen)
            x = rows
        close(result, torch.stack([frozen.u @ row for row in x]))


def test_the_future_is_not_seen():
    frozen, trained, batch = drawn(2)
    changed = batch.tokens.clone()
    changed[:, 12:] = (changed[:, 12:] + 1) % 65
    before, after = (model.logits(frozen, trained, tokens) for tokens in (batch.tokens, changed))
    assert torch.equal(before[:, :12], after[:, :12])
    assert not torch.allclose(before[:, 12], after[:, 12])
