"""The fast method against the network as it is written, and descent on tables alone."""

import pytest
import torch

from chapters.companions.birth import fast, model, task
from chapters.companions.birth import task_tables as tables
from oracles.birth_counts import COUNTS


def drawn(n_layers, dim=20, length=24, batch_size=21, seed=0):
    stream = torch.Generator().manual_seed(seed)
    frozen, trained = model.initial(65, length, dim, n_layers, generator=stream)
    frozen = model.Frozen(*(part.double() for part in frozen))
    kq = tuple(2 * part.double() for part in trained.kq)
    batch = task.sample(task.make(COUNTS, 5), batch_size, length, generator=stream)
    return frozen, model.Trained(kq, trained.o.double()), batch


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("group", [1, 4, 64])
def test_fast_is_dense(n_layers, group, monkeypatch, close):
    monkeypatch.setattr(fast, "GROUP", group)
    frozen, trained, batch = drawn(n_layers)
    dense = model.loss_and_gradient(frozen, trained, batch)
    found = fast.loss_and_gradient(frozen, trained, batch)
    assert found.loss == pytest.approx(dense.loss, rel=1e-12)
    assert found.accuracy == pytest.approx(dense.accuracy)
    for ours, theirs in zip(model.parts(found.gradient), model.parts(dense.gradient), strict=True):
        close(ours, theirs, 1e-10)


def test_gradient_is_the_slope():
    """The loss from the definition, by finite differences along random directions."""
    frozen, trained, batch = drawn(2, dim=8, length=12, batch_size=5)

    def loss(parts):
        out = model.logits(frozen, model.from_parts(parts), batch.tokens).log_softmax(dim=-1)
        found = out.gather(-1, batch.targets[..., None]).squeeze(-1)
        return -float(found[batch.scored].mean())

    stream = torch.Generator().manual_seed(0)
    gradient = fast.loss_and_gradient(frozen, trained, batch).gradient
    for i, pull in enumerate(model.parts(gradient)):
        way = torch.randn(8, 8, generator=stream).double()
        ahead, behind = (
            [p + h * way if j == i else p for j, p in enumerate(model.parts(trained))]
            for h in (1e-5, -1e-5)
        )
        slope = (loss(ahead) - loss(behind)) / 2e-5
        assert slope == pytest.approx(float((pull * way).sum()), rel=1e-6, abs=1e-10)


def test_nothing_scored_is_an_error():
    frozen, trained, batch = drawn(2)
    with pytest.raises(ValueError, match="scored"):
        fast.loss_and_gradient(frozen, trained, batch._replace(scored=batch.scored & False))


@pytest.mark.parametrize("n_layers", [1, 2])
def test_dense_model_by_loops(n_layers, close):
    frozen, trained, batch = drawn(n_layers, dim=6, length=5, batch_size=2)
    logits = model.logits(frozen, trained, batch.tokens)
    for tokens, found in zip(batch.tokens, logits, strict=True):
        x = [frozen.e[z] + frozen.p[t] for t, z in enumerate(tokens)]
        values = [frozen.ov1, trained.o @ frozen.v][-n_layers:]
        for kq, ov in zip(trained.kq, values, strict=True):
            rows = []
            for t in range(len(x)):
                scores = torch.stack([x[t] @ kq @ x[s] / 6**0.5 for s in range(t + 1)])
                seen = sum(w * x[s] for s, w in enumerate(scores.softmax(dim=0)))
                rows.append(x[t] + ov @ seen)
            x = rows
        close(found, torch.stack([frozen.u @ row for row in x]))


def test_the_future_is_not_seen():
    frozen, trained, batch = drawn(2)
    changed = batch.tokens.clone()
    changed[:, 12:] = (changed[:, 12:] + 1) % 65
    before, after = (model.logits(frozen, trained, tokens) for tokens in (batch.tokens, changed))
    assert torch.equal(before[:, :12], after[:, :12])
    assert not torch.allclose(before[:, 12], after[:, 12])


def test_other_numbers_of_layers_are_errors():
    with pytest.raises(ValueError, match="one or two layers"):
        model.initial(5, 4, 6, 3, generator=torch.Generator())


def test_descent_on_tables_is_descent_on_matrices(close):
    """Momentum and weight decay included; PyTorch's own optimiser on one side."""
    rates = {"momentum": 0.9, "weight_decay": 0.01}
    frozen, trained, _ = drawn(2)
    optimiser = torch.optim.SGD(model.parts(trained), lr=0.3, **rates)
    now, gram = tables.tables(frozen, trained), tables.metric(frozen)
    velocity = tables.Tables(*map(torch.zeros_like, now))
    for step in range(6):
        batch = drawn(2, seed=10 + step)[2]
        dense = model.loss_and_gradient(frozen, trained, batch)
        for part, pull in zip(model.parts(trained), model.parts(dense.gradient), strict=True):
            part.grad = pull
        optimiser.step()
        _, _, pull = fast.table_gradient(now, tables.direct(frozen, 2), batch)
        now, velocity = tables.descend(now, velocity, pull, gram, learning_rate=0.3, **rates)
    for ours, theirs in zip(now, tables.tables(frozen, trained), strict=True):
        close(ours, theirs, 1e-10)


def test_output_matrix_outside_the_outputs_only_decays(close):
    """W_O^2 moves along output embeddings alone; the rest of it follows a linear recursion."""
    frozen, trained, _ = drawn(2, dim=80)  # more dimensions than the 65 outputs
    basis = torch.linalg.qr(frozen.u.T).Q
    outside = torch.eye(80, dtype=torch.float64) - basis @ basis.T
    start = outside @ trained.o
    optimiser = torch.optim.SGD([trained.o], lr=0.3, momentum=0.9, weight_decay=0.01)
    share, speed = 1.0, 0.0
    for step in range(4):
        batch = drawn(2, seed=10 + step)[2]
        trained.o.grad = fast.loss_and_gradient(frozen, trained, batch).gradient.o
        optimiser.step()
        speed = 0.9 * speed + 0.01 * share
        share -= 0.3 * speed
    assert not torch.allclose(basis.T @ trained.o, share * basis.T @ drawn(2, dim=80)[1].o)
    close(outside @ trained.o, share * start)


def test_size_of_the_problem():
    """The ranks of the three tables bound what training changes."""
    assert tables.size(3, 5, 4) == (48, 16 + 16 + 12)
    assert tables.size(3, 5, 100) == (30000, 64 + 256 + 48)
