"""Bounds on the flow when any pair may be asked for."""

import math
from typing import Any, NamedTuple

from flint import arb

from ..box import upper


class Bounds(NamedTuple):
    """Bounds on the flow until a score emerges; TV is all that a coordinate moves.

    Attributes:
        theta: T l/N^2.
        span: the same of the last stage alone.
        beta: the largest beta_2.
        alpha: the largest alpha_3.
        apart: the largest d.
        low_beta: -beta_2; also half of what beta_2 turns back.
        low_alpha: the same of alpha_3.
        low_apart: the same of d.
        alpha_1: N times its TV.
        beta_1: N times its TV.
        beta_7: N times its TV, beta_9's too.
        beta_8: N times its TV, beta_11's too.
        beta_10: N times its TV.
        beta_12: N times its TV.
        gamma_1: N |gamma_1|.
        joint_above: N/l times how far G is above its path.
        joint_below: N/l times how far it is below.
        four_above: N/l times how far h is above its path.
        four_below: N/l times how far it is below.
    """

    theta: Any
    span: Any
    beta: Any
    alpha: Any
    apart: Any
    low_beta: Any
    low_alpha: Any
    low_apart: Any
    alpha_1: Any
    beta_1: Any
    beta_7: Any
    beta_8: Any
    beta_10: Any
    beta_12: Any
    gamma_1: Any
    joint_above: Any
    joint_below: Any
    four_above: Any
    four_below: Any


class Errors(NamedTuple):
    """Time integrals of what the slow flow leaves out, at most: of beta_2, alpha_3 and d."""

    beta: arb
    alpha: arb
    apart: arb


def rounded_up(value: arb) -> float:
    """A number above a ball."""
    return math.nextafter(float(upper(value)), math.inf)
