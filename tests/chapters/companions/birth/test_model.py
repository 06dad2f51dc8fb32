"""The network against its definition."""

import pytest
import torch

from chapters.companions.birth import model


@pytest.mark.parametrize("n_layers", [1, 2])
def test_model_by_loops(n_layers, close):
    stream = torch.Generator().manual_seed(0)
    frozen, trained = model.initial(65, 5, 6, n_layers, generator=stream)
    frozen = model.Frozen(*(part.double() for part in frozen))
    trained = model.Trained(tuple(2 * kq.double() for kq in trained.kq), trained.o.double())
    batch = torch.randint(65, (2, 5), generator=stream)
    logits = model.logits(frozen, trained, batch)
    for tokens, result in zip(batch, logits, strict=True):
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
