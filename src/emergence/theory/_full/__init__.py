"""All nineteen pseudo-parameters at once: loss and gradient."""

from .loss import full_gradient, full_loss, landscape, landscape_of_chances

__all__ = ["full_gradient", "full_loss", "landscape", "landscape_of_chances"]
