"""The fast one-layer transformer against attention as it is written."""

from functools import partial

import pytest
import torch

from chapters.companions.factual_recall import task
from chapters.companions.factual_recall.model import Parameters, Shape, initial, retrieved
from chapters.companions.factual_recall.task import Facts

FACTS = Facts(subjects=4, relations=3, answers=2, noise=5, length=8)
SHAPE = Shape(dim=6, heads=2, head_dim=3, width=5)


def written_out(shape, frozen, p, tokens):
    """One run, one sequence: softmax attention from the last token, head by head."""
    x = frozen.e[tokens]
    heads = []
    for h in range(shape.heads):
        part = slice(h * shape.head_dim, (h + 1) * shape.head_dim)
        query = x[-1] @ p.q[:, part]
        scores = (x @ p.k[:, part]) @ query / shape.head_dim**0.5
        heads.append(torch.softmax(scores, dim=0) @ (x @ p.v[:, part]))
    y = torch.cat(heads) @ p.o
    y = y + torch.relu(y @ p.a + p.b[0]) @ p.w
    return frozen.u @ y


@pytest.fixture
def model():
    streams = [torch.Generator().manual_seed(i) for i in range(2)]
    frozen, parameters = initial(SHAPE, FACTS, streams, torch.float64)
    return frozen, Parameters(*(3 * part.requires_grad_() + 0.1 for part in parameters))


def test_logits_and_gradients_are_those_of_attention_in_any_order(model, close):
    frozen, parameters = model
    sequences = [task.draw(FACTS, 7, torch.Generator().manual_seed(i)) for i in range(2)]
    counts = torch.stack([task.counts(FACTS, batch) for batch in sequences]).double()
    found = retrieved(SHAPE, frozen, parameters, counts) @ frozen.u.mT
    order = [*torch.randperm(7, generator=torch.Generator().manual_seed(2)).tolist(), 7]
    rows = []
    for run, batch in enumerate(sequences):
        own = (type(parts)(*(part[run] for part in parts)) for parts in (frozen, parameters))
        written = partial(written_out, SHAPE, *own)
        rows.append(torch.stack([written(row[order]) for row in task.tokens(FACTS, batch)]))
    expected = torch.stack(rows)
    close(found, expected, 1e-12)
    weight = torch.randn(found.shape, generator=torch.Generator().manual_seed(3), dtype=found.dtype)
    fast, slow = (
        torch.autograd.grad((logits * weight).sum(), parameters, retain_graph=True)
        for logits in (found, expected)
    )
    for one, other in zip(fast, slow, strict=True):
        close(one, other, 1e-10)


def test_scores_that_are_far_apart_do_not_divide_by_zero():
    frozen, start = initial(SHAPE, FACTS, [torch.Generator().manual_seed(i) for i in range(2)])
    parameters = Parameters(*(part.requires_grad_() for part in start._replace(k=1e4 * start.k)))
    counts = task.counts(FACTS, task.draw(FACTS, 12, torch.Generator().manual_seed(0)))
    found = retrieved(SHAPE, frozen, parameters, counts.expand(2, -1, -1))
    assert found.dtype == torch.float32
    slopes = torch.autograd.grad(found.sum(), parameters)
    assert all(torch.isfinite(part).all() for part in (found, *slopes))


def test_initial_values_have_the_sources_scales():
    shape = Shape(dim=64, heads=2, head_dim=16, width=128)
    frozen, p = initial(shape, Facts(50, 50, 8, 100), [torch.Generator().manual_seed(0)])
    deviations = {
        "q": 16**-0.5, "k": 16**-0.5, "v": 16**-0.5, "o": 64**-0.5, "a": 64**-0.5, "w": 128**-0.5,
    }  # fmt: skip
    for name, expected in deviations.items():
        assert float(getattr(p, name).std()) == pytest.approx(expected, rel=0.1)
    assert float(frozen.e.std()) == pytest.approx(1 / 8, rel=0.1)
    assert not p.b.any()


def test_parameters_are_counted_as_in_the_source():
    shape = Shape(16, 8, 2, 16)
    assert shape.attention_parameters == 4 * 8 * 2 * 16
    assert shape.mlp_parameters == 2 * 16 * 16
    _, p = initial(shape, FACTS, [torch.Generator().manual_seed(0)])
    assert shape.parameters == sum(part.numel() for part in p) - p.b.numel()
