"""The task of §7.1, and the network of §7.2: f(X) = sigma(X E) W without biases, its gradients.

Fourier components of the embeddings over the numbers 0 to p - 1, and their geometry (§7.3.2).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

Rows = Float[Tensor, "*runs n p"]
Values = Float[Tensor, "*any"]

FEATURES = ("norm_spread", "cosine_within", "cosine_between", "overlap_within", "overlap_between")


def components(embeddings: Float[Tensor, "*times p hidden"]) -> Complex[Tensor, "*times k hidden"]:
    """F_k = (1/p) sum_j exp(-2 pi i j k / p) E_j for k = 1 to (p - 1)/2 (§7.3.2)."""
    modulus = embeddings.shape[-2]
    return torch.fft.fft(embeddings, dim=-2)[..., 1 : (modulus + 1) // 2, :] / modulus


def features(embeddings: Float[Tensor, "*times p hidden"]) -> dict[str, Float[Tensor, "*times"]]:
    """How alike and how orthogonal the axes Re F_1, Im F_1, Re F_2, ... of the circles are.

    The spread of their norms is 0 for equal circles. Cosines are means of their sizes, within a
    frequency and between frequencies. The overlap is the cosine of the absolute values: 1 where two
    axes use the same hidden units.
    """
    both = torch.view_as_real(components(embeddings))
    axes = both.transpose(-1, -2).flatten(-3, -2)
    norms = axes.norm(dim=-1)
    values = [norms.std(dim=-1) / norms.mean(dim=-1)]
    frequency = torch.arange(axes.shape[-2]) // 2
    different = frequency[:, None] != frequency[None, :]
    for rows in (axes, axes.abs()):
        unit = rows / rows.norm(dim=-1, keepdim=True)
        table = (unit @ unit.mT).abs()
        values.append(table.diagonal(1, -2, -1)[..., ::2].mean(dim=-1))
        values.append(table[..., different].mean(dim=-1))
    return dict(zip(FEATURES, values, strict=True))


class Samples(NamedTuple):
    """Inputs e_a + e_b and targets e_c with c = a + b mod p, one row per pair (§7.1)."""

    inputs: Rows
    targets: Rows

    def to(self, dtype: torch.dtype) -> "Samples":
        return Samples(self.inputs.to(dtype), self.targets.to(dtype))


class Split(NamedTuple):
    """Pairs to train on and pairs held out."""

    train: Samples
    test: Samples


def samples(pairs: Int[Tensor, "2 n"], modulus: int) -> Samples:
    """The rows of X and Y for these pairs (§7.1)."""
    first, second = pairs
    inputs = one_hot(first, modulus) + one_hot(second, modulus)
    return Samples(inputs.double(), one_hot((first + second) % modulus, modulus).double())


def split(modulus: int, n_train: int, *, generator: torch.Generator) -> Split:
    """A random split; ValueError unless both parts have a pair."""
    pairs = torch.triu_indices(modulus, modulus)  # all a <= b < p (§7.1)
    count = pairs.shape[1]
    if not 0 < n_train < count:
        raise ValueError(f"n_train must be from 1 to {count - 1}, got {n_train}")
    order = torch.randperm(count, generator=generator, device=generator.device).cpu()
    return Split(*(samples(pairs[:, part], modulus) for part in order.tensor_split([n_train])))


def stacked(splits: Sequence[Split]) -> Split:
    """One split per run, with a leading axis for the runs."""
    parts = zip(*splits, strict=True)
    return Split(*(Samples(*map(torch.stack, zip(*part, strict=True))) for part in parts))


class Layers(NamedTuple):
    """Embeddings E (W_1 of Eq. 12) and output weights W (W_2)."""

    embeddings: Float[Tensor, "*runs p hidden"]
    output: Float[Tensor, "*runs hidden p"]

    def flat(self) -> Float[Tensor, "*runs parameters"]:
        """All parameters in a row, theta of Eq. 1."""
        return torch.cat([part.flatten(-2) for part in self], dim=-1)

    def to(self, dtype: torch.dtype) -> "Layers":
        return Layers(self.embeddings.to(dtype), self.output.to(dtype))

    def moved(self, direction: "Layers", by: float | Tensor) -> "Layers":
        """These layers after a step in a direction."""
        return Layers(*(part + by * step for part, step in zip(self, direction, strict=True)))

    def move(self, direction: "Layers", by: float | Tensor) -> None:
        """Take a step in a direction, in place."""
        for part, step in zip(self, direction, strict=True):
            part.add_(by * step)


@dataclass(frozen=True)
class Activation:
    """sigma(z) = z Phi(c z) with Phi the normal distribution's: ReLU but within about 1/c of 0.

    An infinite sharpness c is ReLU, a kink; any other is smooth, as the theorems want it.
    """

    sharpness: float = math.inf

    def __call__(self, z: Values) -> Values:
        """sigma(z)."""
        if math.isinf(self.sharpness):
            return z.clamp(min=0)
        return torch.nn.functional.gelu(self.sharpness * z) / self.sharpness

    def pulled_back(self, values: Values, z: Values) -> Values:
        """The product of the values with sigma'(z), which is 0 for ReLU where z is 0."""
        # autograd's own kernels: a product with a Boolean mask takes three times as long
        if math.isinf(self.sharpness):
            return torch.ops.aten.threshold_backward(values, z, 0)
        return torch.ops.aten.gelu_backward(values, self.sharpness * z)

    def slope(self, z: Values) -> Values:
        """sigma'(z)."""
        return self.pulled_back(torch.ones_like(z), z)


RELU = Activation()


def start(
    modulus: int, hidden: int, kind: Literal["torch", "normal"], *, generator: torch.Generator
) -> Layers:
    """Initial weights: PyTorch's uniform ones, or normal ones of the same order (App. D; ours)."""
    draw = torch.rand if kind == "torch" else torch.randn
    parts = []
    for shape in ((modulus, hidden), (hidden, modulus)):
        part = draw(shape, generator=generator, device=generator.device, dtype=torch.float64)
        parts.append((2 * part - 1 if kind == "torch" else part) * shape[0] ** -0.5)
    return Layers(*parts)


def residual_and_gradient(
    layers: Layers, data: Samples, activation: Activation = RELU
) -> tuple[Rows, Layers]:
    """The residual f - Y and the gradient of L, its sum of squares (Eqs. 1, 12)."""
    z = data.inputs @ layers.embeddings
    active = activation(z)
    residual = active @ layers.output - data.targets
    to_hidden = activation.pulled_back(residual @ layers.output.mT, z)
    return residual, Layers(2 * data.inputs.mT @ to_hidden, 2 * active.mT @ residual)


def network_output(layers: Layers, data: Samples, activation: Activation = RELU) -> Rows:
    return activation(data.inputs @ layers.embeddings) @ layers.output


def accuracy(
    layers: Layers, data: Samples, activation: Activation = RELU
) -> Float[Tensor, "*runs"]:
    """The share of samples whose largest output is the sum (§7.2)."""
    right = network_output(layers, data, activation).argmax(dim=-1) == data.targets.argmax(dim=-1)
    return right.double().mean(dim=-1)
