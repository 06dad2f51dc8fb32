"""The inequalities of App. B.6-B.8 with explicit constants, and what follows from them."""

import math
from typing import NamedTuple

from .bounds import (
    Box,
    Inequality,
    alpha_speed,
    beta_speed,
    excess_signal,
    gamma_brake,
    gamma_excess,
    gamma_speed,
    signal_parts,
    speed_ratio,
)

HALF = (0.0, 0.5)
FIRST: Box = {"alpha": HALF, "beta": HALF, "gamma": HALF}  # until gamma emerges, B.6
SECOND: Box = {"alpha": HALF, "beta": HALF, "gamma": (0.5, 1.5)}  # until beta emerges, B.7
THIRD: Box = {"alpha": HALF, "beta": (0.5, 20.0), "gamma": (0.5, 1.5)}  # until alpha emerges, B.8
EVERY: Box = {"alpha": HALF, "beta": (0.0, 20.0), "gamma": (0.0, 1.5)}  # all three phases
BETA_LOW, BETA_HIGH, ALPHA_LOW = 1 / 5, 3 / 2, 1 / 10  # N^2 dbeta/dt and N^2 dalpha/dt
ALPHA_LOW_AT_TWO = 1 / 12  # the same from N = 2 on, for beta up to BETA_EXACT
# e^alpha - 1 + (2N - 2) alpha = (N - 1) beta^2 along the flow: while alpha <= 1/2,
# beta^2 <= 1 + (sqrt(e) - 1)/(N - 1) <= sqrt(e) for every N >= 2
BETA_EXACT = math.e**0.25


def _with_gamma(box: Box, value: float) -> Box:
    return {**box, "gamma": (value, value)}


def _bracket(p):
    _, s, d = signal_parts(p)
    return 1 - p["x"] * p["gamma"] * (s - 1) / d


INEQUALITIES: dict[str, Inequality] = {
    "signal": Inequality(
        "B.6.1", r"s = 1 + O(1/N)", r"s \le 1 + 1/N", FIRST, lambda p: 1 - excess_signal(p)
    ),
    "gamma_lower": Inequality(
        "B.6.1", r"\dot\gamma \ge 1/2N + O(1/N^2)", r"\dot\gamma \ge (1-\gamma)/N \ge 1/2N",
        FIRST, gamma_brake,
    ),
    "gamma_upper": Inequality(
        "B.6.1", r"\dot\gamma \le 1/N + O(1/N^2)", r"\dot\gamma \le (1-\gamma)/N + 1/N^2",
        FIRST, lambda p: 1 - gamma_excess(p),
    ),
    "alpha_early": Inequality(
        "B.6.2", r"\dot\alpha = O(1/N^2)", r"\dot\alpha \le 1/4N^2",
        FIRST, lambda p: 1 / 4 - alpha_speed(p),
    ),
    "beta_early": Inequality(
        "B.6.2", r"\dot\beta = O(1/N^2)", r"\dot\beta \le 1/2N^2",
        FIRST, lambda p: 1 / 2 - beta_speed(p),
    ),
    "non_negative": Inequality(
        "B.6.3", r"\dot\alpha, \dot\beta \ge 0", r"\gamma(s-1) < s+2N-1", EVERY, _bracket
    ),
    "gamma_ceiling": Inequality(
        "B.7.1", r"\dot\gamma < 0 \text{ at } \gamma = 3/2", r"\dot\gamma < 0",
        _with_gamma(SECOND, 1.5), lambda p: -gamma_speed(p),
    ),
    "gamma_floor": Inequality(
        "B.7 (used, not shown)", r"\gamma \ge 1/2", r"\dot\gamma > 0 \text{ at } \gamma = 1/2",
        _with_gamma(SECOND, 0.5), gamma_speed,
    ),
    "beta_lower": Inequality(
        "B.7.2", r"\dot\beta = \Theta(1/N^2)", r"\dot\beta \ge 1/5N^2",
        SECOND, lambda p: beta_speed(p) - BETA_LOW,
    ),
    "beta_upper": Inequality(
        "B.7.2", r"\dot\beta = \Theta(1/N^2)", r"\dot\beta \le 3/2N^2",
        SECOND, lambda p: BETA_HIGH - beta_speed(p),
    ),
    "beta_faster": Inequality(
        "B.7.3", r"\dot\alpha < \dot\beta", r"\dot\alpha < \dot\beta",
        SECOND, lambda p: 1 - speed_ratio(p),
    ),
    "alpha_lower": Inequality(
        "B.8.1", r"\dot\alpha > 1/8N^2 + O(1/N^3)", r"\dot\alpha > 1/10N^2",
        THIRD, lambda p: alpha_speed(p) - ALPHA_LOW,
    ),
    "beta_late": Inequality(
        "B.8.2", r"\dot\beta < 3\sqrt e/4N^2 + O(1/N^3)", r"\dot\beta < 3/2N^2",
        THIRD, lambda p: BETA_HIGH - beta_speed(p),
    ),
    "gamma_ceiling_late": Inequality(
        "B.8", r"\gamma \text{ remains constrained}", r"\dot\gamma < 0 \text{ at } \gamma = 3/2",
        _with_gamma(THIRD, 1.5), lambda p: -gamma_speed(p),
    ),
    "gamma_floor_late": Inequality(
        "B.8", r"\gamma \text{ remains constrained}", r"\dot\gamma > 0 \text{ at } \gamma = 1/2",
        _with_gamma(THIRD, 0.5), gamma_speed,
    ),
}  # fmt: skip


def with_beta_up_to(row: Inequality, ceiling: float) -> Inequality:
    """The same estimate on a box that ends at this beta, if not before."""
    low, high = row.box["beta"]
    return row._replace(box={**row.box, "beta": (low, min(high, ceiling))})


def for_every_n() -> dict[str, Inequality]:
    """The chain with beta as far as the first integral lets it come, to be proved from N = 2 on."""
    chain = {key: with_beta_up_to(row, BETA_EXACT) for key, row in INEQUALITIES.items()}
    chain["alpha_lower"] = chain["alpha_lower"]._replace(
        explicit=r"\dot\alpha > 1/12N^2", margin=lambda p: alpha_speed(p) - ALPHA_LOW_AT_TWO
    )
    return chain


class TimeBounds(NamedTuple):
    """Intervals that contain the emergence times, by integrating the inequalities."""

    gamma: tuple[float, float]
    beta: tuple[float, float]
    alpha: tuple[float, float]
    beta_at_gamma: float  # the most that beta can be when gamma emerges
    beta_at_alpha: float  # the most that beta can be when alpha emerges


def time_bounds(n_pairs: int) -> TimeBounds:
    """What the inequalities say of T_gamma, T_beta and T_alpha.

    They must hold from this N on (`bounds.least_n`). gamma' between (1 - gamma)/N and that plus
    1/N^2 integrates to logarithms; beta and alpha move at bounded speeds.
    """
    n, excess = n_pairs, 1 / n_pairs
    gamma = n * math.log((1 + excess) / (0.5 + excess)), n * math.log(2)
    beta_at_gamma = gamma[1] / (2 * n**2)
    beta = gamma[0] + (0.5 - beta_at_gamma) / BETA_HIGH * n**2, gamma[1] + 0.5 / BETA_LOW * n**2
    wait = 0.5 / ALPHA_LOW * n**2
    return TimeBounds(
        gamma, beta, (beta[0], beta[1] + wait), beta_at_gamma, 0.5 + wait * BETA_HIGH / n**2
    )
