"""All nineteen pseudo-parameters at once: loss, laws, overlaps of real data, noise of batches."""

from .landscape import full_gradient, full_loss, landscape, landscape_of_chances
from .noise import output_noise

__all__ = ["full_gradient", "full_loss", "landscape", "landscape_of_chances", "output_noise"]
