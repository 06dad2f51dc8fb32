"""The curriculum's batches."""

import numpy as np
import torch

from chapters.beyond.area_law.training import Curriculum, train_curriculum

CPU = torch.device("cpu")


def test_the_first_pair_is_asked_for_ahead():
    """With it the loss of any pair starts later, and lower than without."""
    plain = train_curriculum(Curriculum(4, 16, 128, ahead=0, steps=20), [0, 1], device=CPU)
    ahead = train_curriculum(Curriculum(4, 16, 128, ahead=12, steps=20), [0, 1], device=CPU)
    assert np.isfinite(plain).all()
    assert np.isnan(ahead[:, :12]).all()
    assert (ahead[:, 16:].mean(axis=1) < 0.9 * plain[:, 16:].mean(axis=1)).all()
