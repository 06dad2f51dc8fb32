"""Model selection: which law do measured emergence times follow."""

import math

import numpy as np
from jaxtyping import Real
from scipy.optimize import minimize_scalar


def information(
    n_pairs: Real[np.ndarray, " sizes"], times: Real[np.ndarray, " sizes"]
) -> dict[str, float]:
    """Akaike's corrected criterion of four laws for T(N), least for the best; c, d, p are fitted.

    Residuals of log T count as independent and normal. Raises ValueError for fewer than six sizes.
    """
    log_n = np.log(np.asarray(n_pairs, dtype=float))
    count = len(log_n)
    if count < 6:
        raise ValueError(f"need six sizes to tell laws apart, got {count}")
    rest = np.log(np.asarray(times, dtype=float)) - 2 * log_n

    def spread(values):  # after the best constant factor
        return float(np.sum((values - values.mean()) ** 2))

    slope, height = np.polyfit(log_n, rest, 1)
    limits = 0.01 - log_n.min(), 50.0
    shift = minimize_scalar(
        lambda d: spread(rest + np.log(log_n + d)), bounds=limits, method="bounded"
    )
    squares = {
        "c N^2": (spread(rest), 1),
        "c N^p": (spread(rest - slope * log_n - height), 2),
        "c N^2/log N": (spread(rest + np.log(log_n)), 1),
        "c N^2/(log N + d)": (float(shift.fun), 2),
    }

    def criterion(square, constants):
        k = constants + 1  # and the variance
        return count * math.log(square / count) + 2 * k + 2 * k * (k + 1) / (count - k - 1)

    return {law: criterion(*entry) for law, entry in squares.items()}
