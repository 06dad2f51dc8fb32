"""Weights as associative memories: what one gradient step stores, and how much fits.

`lemma` is the closed form of a gradient step, `training` trains a matrix; `capacity` searches for
the most pairs that it stores, `limits` predicts it.

The criterion and the widths are those of the code of Nichani and others
(2024); a comment says where ours differ.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Widths and numbers of pairs, and how finely capacity is searched."""

    lemma_pairs: int = 32  # N of the one-step lemma
    eta: float = 1.0  # a step from zero is linear in it
    least_recall: float = 0.99  # share of the pairs at which they count as stored
    widths: tuple[int, ...] = (8, 16, 32, 64, 128)  # d of the matrix; source: to 256
    hebbian_widths: tuple[int, ...] = (16, 32, 64, 128, 256)
    hebbian_from: int = 64  # d from which its capacity is held to the expected one
    draws: int = 20  # a Hebbian capacity is that of the mean recall over as many draws
    tolerance: float = 1.03  # capacity is known within this factor; the fits need no more
    evaluations: int = 1500  # of the loss and its gradient, at most
    patience: int = 30  # evaluations without a fall of the loss by a hundredth end the training
    samples: int = 4000  # of the statistical dimension: a standard error of 1%
