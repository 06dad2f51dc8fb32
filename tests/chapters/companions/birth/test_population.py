"""Population gradients: full enumeration, a closed form, and what three steps build."""

import itertools

import pytest
import torch

from chapters.companions.birth import model, population

SIZES = 5.0, 20.0, 40.0


def everything(n_tokens, length):
    """All sequences with every q and o, and their answers, from the definition."""
    result = []
    for q, o in itertools.permutations(range(n_tokens), 2):
        for sequence in itertools.product(range(n_tokens), repeat=length):
            at = [t for t, z in enumerate(sequence) if z == q]
            twice = len(at) == 2 and at[1] == length - 1 and 1 <= at[0] < length - 2
            if twice and sequence[at[0] + 1] == o:
                result.append((sequence, o))
    return result


def test_one_trigger_and_output_stand_for_all(close):
    n, t = 3, 6
    frozen = population.orthonormal(n, t)
    result = everything(n, t)
    tokens, targets = (torch.tensor(each) for each in zip(*result, strict=True))
    stream = torch.Generator().manual_seed(0)
    drawn = [torch.randn(frozen.ov1.shape, generator=stream).double() for _ in range(3)]
    weights = [population.renamed(part, n, t) for part in drawn]  # blind to names
    free = [part.clone().requires_grad_() for part in weights]
    out = model.logits(frozen, model.from_parts(free[::-1]), tokens)[:, -1]
    wanted = torch.nn.functional.cross_entropy(out, targets)
    loss, accuracy, pulls = population.gradient(
        frozen, model.from_parts(weights[::-1]), population.sequences(n, t)
    )
    assert loss == pytest.approx(wanted.item(), rel=1e-12)
    assert accuracy == pytest.approx((out.argmax(dim=1) == targets).double().mean().item())
    for ours, theirs in zip(pulls, torch.autograd.grad(wanted, free), strict=True):
        close(ours, theirs, 1e-12)


def test_three_steps_build_the_head_one_memory_each():
    first, second, third = population.three_steps(5, 7, SIZES)
    assert [step.part for step in (first, second, third)] == list(population.PARTS)
    assert first.recalls[0] == 1
    assert max(first.recalls[1:]) < 0.5
    assert second.recalls[:2] == (1, 1)
    assert second.recalls[2] < 0.5
    assert third.recalls == (1, 1, 1)
    assert second.accuracy < 0.5 < 0.95 < third.accuracy
