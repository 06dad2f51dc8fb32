"""The lemma behind the order of emergence, as algebra and along flows."""

import numpy as np
import pytest

from emergence import theory


@pytest.mark.parametrize("n_pairs", [2, 3, 50])
def test_the_flow_stays_where_the_lemma_says(n_pairs):
    path = theory.gradient_flow(n_pairs, 20.0 * n_pairs**2)
    signal = np.array(theory.signal(path.alpha, path.beta, n_pairs))
    h = path.gamma * (signal - 1) / (signal + 2 * n_pairs - 1)
    assert h.max() < 1
    assert h[-1] > 0.9  # the bound is sharp
    assert np.diff(path.alpha).min() > 0
    assert np.diff(path.beta).min() > 0
