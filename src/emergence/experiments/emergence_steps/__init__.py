"""Steps until a training run emerges, in both networks."""

from .minimal import minimal_steps, predicted_minimal_steps
from .tokens import knows_labels_only, token_steps

__all__ = ["knows_labels_only", "minimal_steps", "predicted_minimal_steps", "token_steps"]
