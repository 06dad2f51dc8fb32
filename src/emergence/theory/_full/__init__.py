"""All nineteen pseudo-parameters at once: loss, gradient, and the noise of batches."""

from .loss import full_gradient, full_loss, landscape, landscape_of_chances
from .noise import output_noise

__all__ = ["full_gradient", "full_loss", "landscape", "landscape_of_chances", "output_noise"]
