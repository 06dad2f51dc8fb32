"""SGD and AdamW of several runs at once, each with a rate of its own."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.training import TokenTraining

from .stacked import Stacked

BETAS, EPS = (0.9, 0.999), 1e-8  # PyTorch's defaults of AdamW


class Descent:
    """Plain SGD, or AdamW with PyTorch's defaults, on stacked weights; a rate a run.

    Of the settings, the optimiser and the weight decay count, and the learning rate does not.
    """

    def __init__(
        self, settings: TokenTraining, weights: Stacked, rates: Float[Tensor, " runs"]
    ) -> None:
        self.adamw = settings.optimiser == "adamw"
        self.decay = settings.weight_decay
        self.weights = [w.detach().clone() for w in weights]
        self.rates = rates
        self.first = [torch.zeros_like(w) for w in weights] if self.adamw else []
        self.second = [torch.zeros_like(w) for w in weights] if self.adamw else []

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor], done: int) -> None:
        """One update of every run, after `done` others."""
        corrections = [1 - beta ** (done + 1) for beta in BETAS]
        for i, (weight, gradient) in enumerate(zip(self.weights, gradients, strict=True)):
            rate = self.rates.view(-1, *[1] * (weight.dim() - 1))
            if not self.adamw:
                weight.sub_(rate * gradient)
                continue
            first, second = self.first[i], self.second[i]
            first.lerp_(gradient, 1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            scale = (second / corrections[1]).sqrt_().add_(EPS)
            weight.mul_(1 - self.decay * rate).sub_(rate / corrections[0] * first / scale)

    def of(self, runs: Int[Tensor, " chosen"]) -> Stacked:
        """The weights of these runs, fresh leaves of the graph; as they lie where all go on."""
        whole = len(runs) == len(self.rates)
        rows = slice(None) if whole else runs.to(self.rates.device)
        return Stacked(*(w.detach()[rows].requires_grad_() for w in self.weights))
