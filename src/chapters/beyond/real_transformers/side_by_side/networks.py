"""Several attention-only transformers of §2 at once: their answers, and their optimisers."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding, scaled_dot_product_attention

from emergence.models import AttentionOnlyTransformer
from emergence.running.graphs import Schedule, constant
from emergence.training import TokenTraining


class Stacked(NamedTuple):
    """The weights of several attention-only transformers (§2.1), with runs along the first axis.

    Attributes:
        tokens: W_E, transposed: a vector a token.
        places: W_pos, transposed: a vector a place in the block.
        queries: W_Q of the two layers.
        keys: W_K of them.
        values: W_V of them.
        outputs: W_O of them.
        unembedding: W_U.
    """

    tokens: Float[Tensor, "runs vocabulary dim"]
    places: Float[Tensor, "runs block dim"]
    queries: Float[Tensor, "runs 2 dim dim"]
    keys: Float[Tensor, "runs 2 dim dim"]
    values: Float[Tensor, "runs 2 dim dim"]
    outputs: Float[Tensor, "runs 2 dim dim"]
    unembedding: Float[Tensor, "runs vocabulary dim"]


def stacked(models: Sequence[AttentionOnlyTransformer]) -> Stacked:
    """Copies of the weights of networks of one shape, none of them requiring a gradient (§2.1)."""

    def layers(name: str) -> Tensor:
        return torch.stack([torch.stack(tuple(getattr(model, name))) for model in models]).detach()

    def single(name: str) -> Tensor:
        return torch.stack([getattr(model, name) for model in models]).detach()

    return Stacked(
        single("W_E").mT.contiguous(),
        single("W_pos").mT.contiguous(),
        layers("W_Q"),
        layers("W_K"),
        layers("W_V"),
        layers("W_O"),
        single("W_U"),
    )


def stacked_logits(
    weights: Stacked,
    tokens: Int[Tensor, "runs batch length"],
    positions: Int[Tensor, "runs batch length"],
) -> Float[Tensor, "runs batch vocabulary"]:
    """The logits at the last position, each run on its own sequences, causal mask (§2.1).

    Only the last position is asked, so all matrices of layer 2 meet one vector a sequence. In layer
    1 queries and keys meet through one matrix, and values are mixed before they are multiplied.
    Logits are what the networks return but for rounding; differentiable once.
    """
    runs, vocabulary, dim = weights.tokens.shape
    scale = dim**-0.5
    run = torch.arange(runs, device=tokens.device)[:, None, None]
    x = embedding(tokens + run * vocabulary, weights.tokens.flatten(0, 1))
    x = x + embedding(positions + run * weights.places.shape[1], weights.places.flatten(0, 1))
    score = weights.queries.mT @ weights.keys  # of both layers
    write = weights.outputs @ weights.values
    queries = (x.flatten(1, 2) @ score[:, 0]).view_as(x)
    mixed = scaled_dot_product_attention(queries, x, x, is_causal=True, scale=scale)

    last = x[:, :, -1] + mixed[:, :, -1] @ write[:, 0].mT
    query = last @ score[:, 1] * scale
    scores = x @ query[..., None] + mixed @ (query @ write[:, 0])[..., None]
    share = scores.squeeze(-1).softmax(dim=-1).unsqueeze(-2)
    attended = (share @ x).squeeze(-2) + (share @ mixed).squeeze(-2) @ write[:, 0].mT
    return (last + attended @ write[:, 1].mT) @ weights.unembedding.mT


BETAS, EPS = (0.9, 0.999), 1e-8  # PyTorch's defaults of AdamW


class StackedDescent:
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

        powers = [[1 - beta**k for beta in BETAS] for k in range(1, settings.steps + 1)]
        self.corrections = Schedule(powers, rates.device, rates.dtype)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        """The next update of every run."""
        corrections = self.corrections()
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

    def of(self, runs: tuple[int, ...]) -> Stacked:
        """The weights of these runs, fresh leaves of the graph; as they lie where all go on."""
        whole = len(runs) == len(self.rates)
        rows = slice(None) if whole else constant(runs, self.rates.device)
        return Stacked(*(w.detach()[rows].requires_grad_() for w in self.weights))
