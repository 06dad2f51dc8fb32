"""The theorem of small times: as a power series, against integration, and where it must fail."""

import numpy as np
import pytest
import sympy as sp
import torch

from chapters.companions.birth import task
from chapters.companions.birth.model import Frozen, initial
from chapters.companions.two_accounts import small_times
from emergence import tasks
from emergence.models import Weights, disentangled_output

pytestmark = pytest.mark.usefixtures("unchecked")


def series(answer, a, b, c, order):
    """Power series in t of the flow of (answer - 1)^2 / 2 from zero, by Picard's iteration."""
    t = sp.symbols("t")
    slopes = [-sp.diff((answer - 1) ** 2 / 2, x) for x in (a, b, c)]
    now = [sp.Integer(0)] * 3
    for _ in range(order + 1):
        at = dict(zip((a, b, c), now, strict=True))
        now = [
            sum(sp.integrate(sp.expand(slope.subs(at, simultaneous=True)).coeff(t, k) * t**k, (t,))
                for k in range(order))
            for slope in slopes
        ]  # fmt: skip
    return [sp.Poly(part, t) if part != 0 else sp.Poly(0, t) for part in now], t


@pytest.mark.parametrize("leak", [0, sp.Rational(1, 7)])
def test_a_scalar_model_has_these_powers_and_coefficients(leak):
    a, b, c = sp.symbols("a b c")
    mean, match, link = sp.Rational(1, 2), sp.Rational(1, 3), sp.Rational(2, 5)
    answer = c * (mean + b * (match + link * a) - leak * a)
    found, t = series(answer, a, b, c, 5)
    output = mean  # minus the derivative of ell = -answer
    second = match * output / 2
    assert found[2].coeff_monomial(t) == output
    assert found[1].coeff_monomial(t) == 0
    assert found[1].coeff_monomial(t**2) == second
    assert found[0].coeff_monomial(t**2) == -leak * output / 2
    if not leak:
        assert found[0].coeff_monomial(t**3) == 0
        assert found[0].coeff_monomial(t**4) == link * second * output / 4


def minimal(leaks=True):
    draw = torch.Generator().manual_seed(1)
    batch = tasks.gaussian_pairs(64, 3, 4, generator=draw)
    return small_times.minimal(batch.inputs, batch.target, leaks=leaks)


def stream():
    draw = torch.Generator().manual_seed(2)
    tokens = torch.randint(5, (16, 7), generator=draw)
    batch = task.Batch(
        tokens, torch.randint(5, (16, 7), generator=draw), torch.ones(16, 7, dtype=torch.bool)
    )
    frozen, _ = initial(5, 7, 6, 2, generator=draw)
    return small_times.stream(Frozen(*(part.double() for part in frozen)), batch)


@pytest.mark.parametrize("problem", [minimal(), minimal(leaks=False), stream()])
def test_moments_are_the_beginning_of_the_flow(problem):
    found = small_times.moments([problem.linear], problem.zero)
    times = [0.001, 0.002]
    flown = small_times.flow(problem.loss, problem.zero, times)
    errors = np.array([
        [float((one - other).norm() / other.norm())
         for one, other in zip(found.at(time), weights, strict=True)]
        for time, weights in zip(times, flown, strict=True)
    ])  # fmt: skip
    assert (errors < 0.02).all()
    # the first term left out is smaller by one power of t
    assert (errors[1] / errors[0]).tolist() == pytest.approx([2, 2, 2], rel=0.2)


def somewhere(problem, draw):
    """Random weights of a problem."""
    shapes = (part.shape for part in problem.zero)
    return small_times.Parts(*(torch.randn(each, generator=draw).double() for each in shapes))


@pytest.mark.parametrize("problem", [minimal(), stream()])
def test_ell_is_the_linear_part_of_the_loss(problem):
    parts, zero = somewhere(problem, torch.Generator().manual_seed(3)), problem.zero
    scaled = [parts._replace(w1=zero.w1, w3=eps * parts.w3) for eps in (1e-4, 2e-4)]
    one, two = (
        float(problem.loss(at))
        - float(problem.loss(zero))
        - float(problem.linear(at) - problem.linear(zero))
        for at in scaled
    )
    assert two / one == pytest.approx(4, rel=0.01)


def test_without_leaks_layer_1_waits():
    tight, leaky, bigrams = (
        small_times.moments([problem.linear], problem.zero)
        for problem in (minimal(False), minimal(), stream())
    )
    assert not tight.leak.any()
    assert leaky.leak.any()
    assert not leaky.direct.any()
    assert bigrams.direct.any()


def test_problems_are_the_models():
    draw = torch.Generator().manual_seed(4)
    batch = tasks.gaussian_pairs(8, 2, 4, generator=draw)
    problem = small_times.minimal(batch.inputs, batch.target)
    parts = somewhere(problem, draw)
    wanted = (disentangled_output(Weights(*parts), batch.inputs) - batch.target).square().mean()
    assert float(problem.loss(parts)) == pytest.approx(float(wanted))


def test_moments_of_two_batches_are_those_of_both_together():
    draw = torch.Generator().manual_seed(5)
    batches = [tasks.gaussian_pairs(8, 2, 4, generator=draw) for _ in range(2)]
    each = [small_times.minimal(batch.inputs, batch.target) for batch in batches]
    whole = small_times.minimal(
        *(torch.cat([getattr(batch, of) for batch in batches]) for of in ("inputs", "target"))
    )
    one = small_times.moments([problem.linear for problem in each], whole.zero)
    both = small_times.moments([whole.linear], whole.zero)
    for part, other in zip(one, both, strict=True):
        torch.testing.assert_close(part, other)


def test_flow_of_a_known_equation():
    zero = small_times.Parts(*(torch.zeros(1, 1, dtype=torch.float64) for _ in range(3)))
    times = np.linspace(0.1, 2, 20)
    found = small_times.flow(
        lambda parts: ((parts.w3 - 1) ** 2 + 0 * parts.w2 * parts.w1).sum() / 2,
        zero,
        times.tolist(),
    )
    np.testing.assert_allclose([float(p.w3) for p in found], 1 - np.exp(-times), rtol=1e-5)


def test_turning_time():
    time = small_times.turning_time(-3.0, 12.0)
    assert time**2 * -3.0 + time**4 * 12.0 == pytest.approx(0)
    assert small_times.turning_time(3.0, 12.0) == float("inf")
