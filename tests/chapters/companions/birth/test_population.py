"""Population gradients: full enumeration, a closed form, and what three steps build."""

import itertools
from fractions import Fraction

import pytest
import torch

from chapters.companions.birth import model, population, task
from oracles.birth_counts import COUNTS

SIZES = 5.0, 20.0, 40.0


def everything(n_tokens, length):
    """All sequences with every q and o, and their answers, from the definition."""
    found = []
    for q, o in itertools.permutations(range(n_tokens), 2):
        for sequence in itertools.product(range(n_tokens), repeat=length):
            at = [t for t, z in enumerate(sequence) if z == q]
            twice = len(at) == 2 and at[1] == length - 1 and 1 <= at[0] < length - 2
            if twice and sequence[at[0] + 1] == o:
                found.append((sequence, o))
    return found


def test_one_trigger_and_output_stand_for_all(close):
    n, t = 3, 6
    frozen = population.orthonormal(n, t)
    found = everything(n, t)
    tokens, targets = (torch.tensor(each) for each in zip(*found, strict=True))
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


@pytest.mark.parametrize(("n", "t"), [(3, 5), (4, 6), (6, 7)])
def test_first_step_in_closed_form(n, t):
    """By counting: how much more often k stands in a sequence answered by k than z does."""
    other = Fraction(1, n - 1)
    gap = 1 - 2 * other + (t - 3) * other**2
    wanted = pytest.approx(float(gap / (n * t)), rel=1e-12)
    assert population.first_slope(n, t) == wanted
    assert population.first_slope_by_counting(n, t) == wanted


def test_three_steps_build_the_head_one_memory_each():
    first, second, third = population.three_steps(5, 7, SIZES)
    assert [step.part for step in (first, second, third)] == list(population.PARTS)
    assert first.recalls[0] == 1
    assert max(first.recalls[1:]) < 0.5
    assert second.recalls[:2] == (1, 1)
    assert second.recalls[2] < 0.5
    assert third.recalls == (1, 1, 1)
    assert second.accuracy < 0.5 < 0.95 < third.accuracy


@pytest.mark.parametrize("order", [p for p in itertools.permutations(range(3)) if p != (0, 1, 2)])
def test_no_other_order_does(order):
    last = population.three_steps(4, 6, SIZES, order=order)[-1]
    assert min(last.recalls) < 1


def test_attention_has_no_gradient_before_there_are_outputs():
    n, t = 4, 6
    frozen = population.orthonormal(n, t)
    zero = torch.zeros_like(frozen.ov1)
    pulls = population.gradient(frozen, model.from_parts([zero] * 3), population.sequences(n, t))[2]
    assert [bool(pull.any()) for pull in pulls] == [True, False, False]


def test_first_step_recalls_more_in_more_dimensions():
    """All of it in orthonormal embeddings, were there enough sequences; least in few dimensions."""
    what = task.make(COUNTS, 5, random_triggers=True)
    batch = task.sample(what, 400, 30, generator=torch.Generator().manual_seed(0))
    axes = model.Frozen(*(part.float() for part in population.orthonormal(65, 30)))
    frozen = (
        model.initial(65, 30, dim, 2, generator=torch.Generator().manual_seed(1))[0]
        for dim in (16, 1024)
    )
    few, many, all_ = (population.recall_after_first_step(f, batch) for f in (*frozen, axes))
    assert few < 0.2 < 0.3 < many
    assert all_ > max(0.7, many)


def test_first_step_is_a_step_of_the_dense_network():
    """Its table is that of the dense gradient on the output matrix at zero weights."""
    batch = task.sample(task.make(COUNTS, 5), 60, 20, generator=torch.Generator().manual_seed(0))
    frozen, trained = model.initial(65, 20, 48, 2, generator=torch.Generator().manual_seed(1))
    zero = model.from_parts([0 * part for part in model.parts(trained)])
    step = -model.loss_and_gradient(frozen, zero, batch).gradient.o
    table = frozen.u @ step @ frozen.v @ frozen.e.T
    expected = float((table.argmax(0) == torch.arange(65)).double().mean())
    assert population.recall_after_first_step(frozen, batch) == expected
