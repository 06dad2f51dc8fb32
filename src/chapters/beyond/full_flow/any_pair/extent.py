"""The bounds on the full model's flow when any pair may be asked for, and a stretch of its time."""

from typing import NamedTuple

from flint import arb

from ..box import Bound


class Extent(NamedTuple):
    """Bounds on the flow until a score emerges; TV is all that a coordinate moves."""

    theta: Bound  # T l/N^2
    span: Bound  # the same of the last stage alone
    beta: Bound  # the largest beta_2
    alpha: Bound  # the largest alpha_3
    apart: Bound  # the largest d
    low_beta: Bound  # -beta_2; also half of what beta_2 turns back
    low_alpha: Bound  # the same of alpha_3
    low_apart: Bound  # the same of d
    alpha_1: Bound  # N times its TV
    beta_1: Bound  # N times its TV
    beta_7: Bound  # N times its TV, beta_9's too
    beta_8: Bound  # N times its TV, beta_11's too
    beta_10: Bound  # N times its TV
    beta_12: Bound  # N times its TV
    gamma_1: Bound  # N |gamma_1|
    joint_above: Bound  # N/l times how far G is above its path
    joint_below: Bound  # N/l times how far it is below
    four_above: Bound  # N/l times how far h is above its path
    four_below: Bound  # N/l times how far it is below


class Errors(NamedTuple):
    """Time integrals of what the slow flow leaves out, at most: of beta_2, alpha_3 and d."""

    beta: arb
    alpha: arb
    apart: arb


class Horizon(NamedTuple):
    """A stretch of time up to which the errors are sought."""

    theta: arb  # how long it is, times l/N^2
    tail: arb | None  # of `quick`; None where it begins at time zero
    before: Errors  # the errors up to its beginning
