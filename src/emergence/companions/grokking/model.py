"""The network of §7.2: two layers without biases, f(X) = relu(X E) W, and its gradients."""

from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from .task import Samples


class Layers(NamedTuple):
    """Embeddings E (W_1 of Eq. 12) and output weights W (W_2)."""

    embeddings: Float[Tensor, "*runs p hidden"]
    output: Float[Tensor, "*runs hidden p"]

    def flat(self) -> Float[Tensor, "*runs parameters"]:
        """All parameters in a row, theta of Eq. 1."""
        return torch.cat([part.flatten(-2) for part in self], dim=-1)

    def moved(self, direction: "Layers", by: float | Tensor) -> "Layers":
        """These layers after a step in a direction."""
        return Layers(*(part + by * step for part, step in zip(self, direction, strict=True)))

    def move(self, direction: "Layers", by: float | Tensor) -> None:
        """Take a step in a direction, in place."""
        for part, step in zip(self, direction, strict=True):
            part.add_(by * step)


class Descent(NamedTuple):
    """The residual f - Y and the gradient of L, its sum of squares (Eq. 1)."""

    residual: Float[Tensor, "*runs n p"]
    gradient: Layers


def start(
    modulus: int, hidden: int, kind: Literal["torch", "normal"], *, generator: torch.Generator
) -> Layers:
    """Initial weights: PyTorch's uniform ones, or normal ones of the same order (App. D; ours)."""
    shapes = (modulus, hidden), (hidden, modulus)
    draw = torch.rand if kind == "torch" else torch.randn
    options: dict[str, Any] = {
        "generator": generator, "device": generator.device, "dtype": torch.float64
    }  # fmt: skip
    parts = (draw(*shape, **options) for shape in shapes)
    if kind == "torch":
        parts = (2 * part - 1 for part in parts)
    return Layers(*(part * part.shape[0] ** -0.5 for part in parts))


def hidden(
    embeddings: Float[Tensor, "*runs p hidden"], inputs: Float[Tensor, "*runs n p"]
) -> Float[Tensor, "*runs n hidden"]:
    """H = relu(X E)."""
    return (inputs @ embeddings).clamp_(min=0)


def gated(
    values: Float[Tensor, "*runs n hidden"], active: Float[Tensor, "*runs n hidden"]
) -> Float[Tensor, "*runs n hidden"]:
    """The values where a unit is active, 0 elsewhere: the product with relu'(X E)."""
    # autograd's own kernel: a product with a Boolean mask takes three times as long
    return torch.ops.aten.threshold_backward(values, active, 0)


def descent(layers: Layers, data: Samples) -> Descent:
    """Residual and gradient of L (Eq. 12)."""
    active = hidden(layers.embeddings, data.inputs)
    residual = active @ layers.output - data.targets
    to_hidden = gated(residual @ layers.output.mT, active)
    return Descent(residual, Layers(2 * data.inputs.mT @ to_hidden, 2 * active.mT @ residual))


def predicted(layers: Layers, data: Samples) -> Float[Tensor, "*runs n p"]:
    """The network's output."""
    return hidden(layers.embeddings, data.inputs) @ layers.output


def accuracy(layers: Layers, data: Samples) -> Float[Tensor, "*runs"]:
    """The share of samples whose largest output is the sum (§7.2)."""
    right = predicted(layers, data).argmax(dim=-1) == data.targets.argmax(dim=-1)
    return right.double().mean(dim=-1)
