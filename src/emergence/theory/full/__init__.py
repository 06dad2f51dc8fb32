"""All nineteen pseudo-parameters at once: their loss, their laws, and the overlaps of real data."""

from .landscape import full_gradient, full_loss, landscape, landscape_of_chances

__all__ = ["full_gradient", "full_loss", "landscape", "landscape_of_chances"]
