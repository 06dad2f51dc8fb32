"""Times to emergence with censored runs."""

from typing import NamedTuple

import numpy as np

from chapters.companions.k_hop.waits import in_words, median_wait


class Made(NamedTuple):
    moments: np.ndarray
    waits: np.ndarray


def test_a_censored_run_counts_as_its_limit() -> None:
    some = Made(np.array([25, 50, 400]), np.array([25.0, np.inf, 50.0]))
    assert in_words(some) == "25, > 400, 50"
    assert median_wait(some) == 50
    assert median_wait(some._replace(waits=np.array([25.0, np.inf, np.inf]))) == 400
