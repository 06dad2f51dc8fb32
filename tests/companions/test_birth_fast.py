"""The fast method against the network as it is written, values and gradients."""

from pathlib import Path

import pytest
import torch

from emergence.companions.birth import bigrams, fast, model, tables, task

ROOT = Path(__file__).parents[2]
COUNTS = bigrams.read((ROOT / "data/shakespeare_bigrams.csv").read_text(encoding="ascii"))


def drawn(n_layers, dim=20, length=24, batch_size=21, seed=0):
    stream = torch.Generator().manual_seed(seed)
    frozen, trained = model.initial(65, length, dim, n_layers, generator=stream)
    frozen = model.Frozen(*(part.double() for part in frozen))
    trained = model.Trained(tuple(2 * part.double() for part in trained.kq), trained.o.double())
    batch = task.sample(task.make(COUNTS, 5), batch_size, length, generator=stream)
    return frozen, trained, batch


def dense(frozen, trained, batch):
    """Loss, accuracy and gradient by autograd through every token."""
    free = [part.clone().requires_grad_() for part in (*trained.kq, trained.o)]
    out = model.logits(frozen, model.Trained(tuple(free[:-1]), free[-1]), batch.tokens)
    out, wanted = out[batch.scored], batch.targets[batch.scored]
    loss = torch.nn.functional.cross_entropy(out, wanted)
    accuracy = (out.argmax(dim=1) == wanted).double().mean()
    return loss.item(), accuracy.item(), torch.autograd.grad(loss, free)


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("group", [1, 4, 64])
def test_fast_is_dense(n_layers, group, monkeypatch, close):
    monkeypatch.setattr(fast, "GROUP", group)
    frozen, trained, batch = drawn(n_layers)
    loss, accuracy, gradient = dense(frozen, trained, batch)
    found = fast.loss_and_gradient(frozen, trained, batch)
    assert found.loss == pytest.approx(loss, rel=1e-12)
    assert found.accuracy == pytest.approx(accuracy)
    for ours, theirs in zip((*found.gradient.kq, found.gradient.o), gradient, strict=True):
        close(ours, theirs, 1e-10)
