"""Pair forces: what one marker does to another through the network that both train.

A step of gradient descent on the loss of marker j changes the hidden layer, and with it the force
on marker i. Per unit of learning rate the change is F_ij = grad_{s_i} <grad_w l_i, grad_w l_j>,
with w all parameters but the embeddings: an interaction force between two markers.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from running.memo import kept

from .markers import all_markers, places, shape_only
from .model import Network, forward, gradient, losses

Embedded = Float[Tensor, "runs n 2"]  # a place or a force for each residue
Field = Callable[[Embedded], Embedded]  # forces at places


def pair_forces(
    network: Network, *, hidden_bias: bool = True
) -> Float[Tensor, "runs markers markers 2"]:
    """F_ij on marker i from marker j; exact, but for kinks that a marker happens to sit on."""
    found = forward(places(network.embeddings), network[1:])
    marks, active, hidden, log_probability = found
    probability, error = log_probability.exp(), found.error()  # the error of the logits
    back = active * (error @ network.second.mT)  # of the hidden units
    # derivatives by the marker: of the hidden units, of the errors, of what goes back
    by_hidden = active[..., None] * network.first.mT[:, None]
    by_logits = torch.einsum("rho,rmhx->rmox", network.second, by_hidden)
    mean = (probability[..., None] * by_logits).sum(dim=-2, keepdim=True)
    by_error = probability[..., None] * (by_logits - mean)
    by_back = active[..., None] * torch.einsum("rho,rmox->rmhx", network.second, by_error)

    def meets(of_first: Tensor, of_second: Tensor) -> Float[Tensor, "runs markers markers 2"]:
        return torch.einsum("rmkx,rnk->rmnx", of_first, of_second)

    shared = (error @ error.mT)[..., None], (back @ back.mT)[..., None]
    second = meets(by_error, error) * (hidden @ hidden.mT + 1)[..., None]
    second = second + meets(by_hidden, hidden) * shared[0]
    first = meets(by_back, back) * (marks @ marks.mT + float(hidden_bias))[..., None]
    return second + first + marks[:, None] * shared[1]


def trained_pair_forces(
    network: Network, *, partner: int, rate: float, hidden_bias: bool = True
) -> Float[Tensor, "runs markers 2"]:
    """F_ij for one j by doing it: train on that marker, and see how the forces have changed.

    A step forward and a step back, each of this learning rate, over their distance.
    """
    free = [part.clone().requires_grad_() for part in network]
    loss = losses(Network(*free))[:, partner].sum()
    slopes = list(torch.autograd.grad(loss, free[1:]))
    if not hidden_bias:
        slopes[1] = torch.zeros_like(slopes[1])

    def force(step: float) -> Float[Tensor, "runs markers 2"]:
        layers = [p.detach() - step * g for p, g in zip(free[1:], slopes, strict=True)]
        marks = places(network.embeddings).requires_grad_()
        return -torch.autograd.grad(forward(marks, layers).losses().sum(), marks)[0]

    return (force(rate) - force(-rate)) / (2 * rate)


def expected_pair_forces(
    embeddings: Float[Tensor, "n 2"], hidden: int, variances: tuple[float, float]
) -> Float[Tensor, "markers markers 2"]:
    """The mean of F_ij over random Gaussian-like layers without biases, at p = 1/n.

    `variances` are those of the entries of W_1 and W_2. Terms odd in W_2 have mean zero; the
    arc-cosine kernels of ReLU units are what is left.
    """
    marks = places(embeddings)
    n = len(embeddings)
    total = all_markers(n).total.to(marks.device)
    weights = (total[:, None] == total).to(marks.dtype) - 1 / n
    length = marks.norm(dim=-1)
    cosine = (marks @ marks.mT) / (length[:, None] * length)
    angle = cosine.clamp(-1, 1).acos()
    along = (torch.pi - angle)[..., None] * marks  # rows i, columns j: along s_j
    own = (angle.sin() * length)[..., None] * (marks / length[:, None])[:, None]
    kernel = variances[0] * (along + own) + variances[1] * along
    return hidden / (2 * torch.pi) * weights[..., None] * kernel


@kept
def mean_pair_forces(
    embeddings: Float[Tensor, "n 2"],
    hidden: int,
    variances: tuple[float, float],
    *,
    count: int,
    stream: torch.Generator,
    block: int = 50,
) -> Float[Tensor, "markers markers 2"]:
    """The mean of F_ij over so many random networks without biases, as `expected_pair_forces`.

    Each network counts twice, with W_2 and with -W_2, so that terms odd in W_2 cancel.
    """
    n = len(embeddings)
    dtype = embeddings.dtype
    total = torch.zeros((), dtype=dtype)
    for drawn in range(0, count, block):
        runs = min(block, count - drawn)
        first, second = (
            variance**0.5
            * torch.randn(runs, *shape, generator=stream, device=stream.device, dtype=dtype)
            for variance, shape in zip(variances, ((2, hidden), (hidden, n)), strict=True)
        )
        still = embeddings.new_zeros(runs, 1, hidden), embeddings.new_zeros(runs, 1, n)
        for sign in (-1, 1):
            parts = embeddings.expand(runs, n, 2), first, still[0], sign * second, still[1]
            total = total + pair_forces(Network(*parts), hidden_bias=False).sum(dim=0) / 2
    return total / count


def own_force(network: Network, counted: Float[Tensor, "runs markers"]) -> Embedded:
    """The network's own force on its embeddings, -grad_E of the counted mean loss."""
    found = forward(places(network.embeddings), network[1:])
    return -gradient(network, found, counted).embeddings


def likeness(force: Embedded, other: Embedded, embeddings: Embedded) -> Float[Tensor, " runs"]:
    """The cosine between two forces, as far as they change the shape of the embeddings."""
    ours, theirs = (shape_only(part, embeddings).flatten(1) for part in (force, other))
    return torch.cosine_similarity(ours, theirs, dim=-1)


def relabelled_likeness(
    force: Embedded, embeddings: Embedded, field: Field, *, count: int, stream: torch.Generator
) -> Float[Tensor, " runs"]:
    """The mean likeness to the particles' forces of residues given other numbers: a control.

    The places stay, so what remains is the likeness that does not depend on the addition.
    """
    found = []
    for _ in range(count):
        order = torch.randperm(embeddings.shape[1], generator=stream, device=stream.device)
        other = field(embeddings[:, order])[:, order.argsort()]
        found.append(likeness(force, other, embeddings))
    return torch.stack(found).mean(dim=0)
