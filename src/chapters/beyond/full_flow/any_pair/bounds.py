"""Bounds on the flow when any pair may be asked for."""

from typing import Any, NamedTuple

from flint import arb


class Bounds(NamedTuple):
    """Bounds on the flow until a score emerges; TV is all that a coordinate moves."""

    theta: Any  # T l/N^2
    span: Any  # the same of the last stage alone
    beta: Any  # the largest beta_2
    alpha: Any  # the largest alpha_3
    apart: Any  # the largest d
    low_beta: Any  # -beta_2; also half of what beta_2 turns back
    low_alpha: Any  # the same of alpha_3
    low_apart: Any  # the same of d
    alpha_1: Any  # N times its TV
    beta_1: Any  # N times its TV
    beta_7: Any  # N times its TV, beta_9's too
    beta_8: Any  # N times its TV, beta_11's too
    beta_10: Any  # N times its TV
    beta_12: Any  # N times its TV
    gamma_1: Any  # N |gamma_1|
    joint_above: Any  # N/l times how far G is above its path
    joint_below: Any  # N/l times how far it is below
    four_above: Any  # N/l times how far h is above its path
    four_below: Any  # N/l times how far it is below


class Errors(NamedTuple):
    """Time integrals of what the slow flow leaves out, at most: of beta_2, alpha_3 and d."""

    beta: arb
    alpha: arb
    apart: arb
