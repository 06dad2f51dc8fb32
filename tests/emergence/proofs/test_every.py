"""The limit of nineteen with a loss at every position: each bound holds and nearly fails."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from emergence.proofs.tubes import _every, limit_times
from emergence.proofs.tubes._balls import Ball
from emergence.proofs.tubes._prefixes import Prefixes
from emergence.proofs.tubes._steps import Guide
from emergence.theory import positions

MASKS = "strict", "causal"
OUTPUT = np.array([0.0] * 16 + [1.0, 1.0, -1.0])


@functools.cache
def losses(count, mask):
    return positions.landscape(np.ones(count), model="full", mask=mask)


def slopes(z, count, mask):
    """The gradient of the network's loss by the twelve coordinates, output pinned."""
    return np.array(losses(count, mask).gradient(*(OUTPUT + _every.LIFT @ z))) @ _every.LIFT


def samples(mask, count=4):
    """States of all scores, and states near those that the flow passes."""
    stream = np.random.default_rng(0)
    yield from stream.normal(size=(count, 12)) * 0.5
    for time in (0.1, 0.3):
        yield path(mask).sol(time)


@functools.cache
def path(mask):
    """The limit flow by another solver, with many prefixes."""
    return solve_ivp(
        lambda _, z: -slopes(z, 2**15, mask), (0, 0.5), np.zeros(12),
        method="LSODA", rtol=1e-9, atol=1e-11, dense_output=True,
    )  # fmt: skip


@pytest.mark.parametrize("mask", MASKS)
def test_the_losses_are_those_of_the_network(mask):
    first = Prefixes(12, mask)
    for z in samples(mask):
        found = first.slopes(Ball.of(z).part(None))
        assert found.mid[0] == pytest.approx(slopes(z, 12, mask), abs=1e-12)
        assert found.rad.max() < 1e-11
        for place, step in enumerate(1e-5 * np.eye(12)):
            rise = slopes(z + step, 12, mask) - slopes(z - step, 12, mask)
            assert first.curvature(Ball.of(z)).mid[place] == pytest.approx(rise / 2e-5, abs=1e-7)


@pytest.mark.parametrize("mask", MASKS)
def test_third_derivatives(mask):
    first, z = Prefixes(5, mask), next(samples(mask))
    bends = first.bends(Ball.of(z)).mid
    for place, step in enumerate(1e-5 * np.eye(12)):
        ends = [first.curvature(Ball.of(z + sign * step)).mid for sign in (1, -1)]
        assert bends[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("count", [40, 400])
def test_long_prefixes_push_at_most_so_much(mask, count):
    nearest = np.zeros(12)
    for z in samples(mask):
        bound = _every.long_prefixes(Ball.of(z), count, mask)
        true = np.abs(slopes(z, 100 * count, mask) - slopes(z, count, mask))
        assert (true <= bound).all()
        nearest = np.maximum(nearest, true / np.maximum(bound, 1e-300))
        wider = _every.long_prefixes(Ball(z, np.full(12, 0.01)), count, mask)
        assert (bound <= wider).all()
    assert np.sort(nearest)[-4:].min() > 0.7


@pytest.mark.parametrize("mask", MASKS)
def test_what_enters_a_step(mask):
    """The defect and the Hessian in a tube, around a path that misses the flow."""
    first, distance, stream = Prefixes(60, mask), 0.004, np.random.default_rng(1)
    guide = Guide(lambda z: -slopes(z, 60, mask), np.zeros(12), 1e-9)
    piece = guide.piece(0.1, 0.015)
    piece.powers[1] += 0.05 * piece.half * np.eye(12)[3]
    rate, defect = _every.rate(piece, distance, first), _every.defect(piece, first)
    missed, lowest = [], []
    for s in np.linspace(-1, 1, 9):
        z = piece.where(Ball.of(s)).mid
        k = np.arange(1, len(piece.powers))[:, None]
        speed = (k * piece.powers[1:] * s ** (k - 1)).sum(axis=0) / piece.half
        missed.append(np.linalg.norm(speed + slopes(z, 60, mask)))
        lowest.append(np.linalg.eigvalsh(first.curvature(Ball.of(z)).mid)[0])
        aside = stream.normal(size=12)
        z = z + distance * aside / np.linalg.norm(aside)
        lowest.append(np.linalg.eigvalsh(first.curvature(Ball.of(z)).mid)[0])
    assert max(missed) <= defect < 1.1 * max(missed)
    assert -min(lowest) <= rate < -1.3 * min(lowest)


@pytest.mark.parametrize("mask", MASKS)
def test_the_limit_flow_is_in_the_tube_and_near_its_edge(mask):
    first, nearest = Prefixes(200, mask), 0.0
    for piece, apart in _every.limit_steps(first):
        end = piece.start + 2 * piece.half
        if end > 0.25:
            break
        away = np.linalg.norm(piece.where(Ball.of(1.0)).mid - path(mask).sol(end))
        assert away < apart
        nearest = max(nearest, away / apart)
    assert nearest > (0.6 if mask == "strict" else 0.1)


def test_times_of_a_low_level(monkeypatch):
    """At a lower threshold, which takes fewer steps, the bounds contain the integrated times."""
    monkeypatch.setattr(_every, "LEVEL", 0.05)
    found = limit_times.__wrapped__("strict", 400)
    times = np.linspace(0, 0.5, 20_001)
    for bounds, place in zip(found, (_every.ALPHA, _every.BETA), strict=True):
        true = times[int((path("strict").sol(times)[place] >= 0.05).argmax())]
        assert bounds.low < true < bounds.high < 1.1 * bounds.low


def test_few_prefixes_leave_no_bounds():
    with pytest.raises(ArithmeticError, match=r"no (tube|inverse)"):
        limit_times.__wrapped__("causal", 30)
