"""Several transformers of §2 trained as one tensor program, each with its seed and rate."""

from .networks import Descent
from .noise import noise_share
from .train import Emerged, train_side_by_side

__all__ = ["Descent", "Emerged", "noise_share", "train_side_by_side"]
