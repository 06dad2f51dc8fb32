"""Gradients as associative memories: a step of cross-entropy on u_k' W e_z in closed form."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.stats import norm
from torch import Tensor
from torch.nn.functional import normalize

Inputs = Float[Tensor, "z d"]
Outputs = Float[Tensor, "k d"]
Labels = Int[Tensor, " z"]  # f(z)
Weights = Float[Tensor, "d d"]
Joint = Float[Tensor, "z k"]
Logits = Float[Tensor, "z k"]


def unit(z: int, dim: int, stream: torch.Generator, dtype: torch.dtype) -> Inputs:
    """Embeddings drawn uniformly from the unit sphere."""
    drawn = torch.randn(z, dim, generator=stream, device=stream.device, dtype=dtype)
    return normalize(drawn, dim=1)


def orthonormal(z: int, dim: int, stream: torch.Generator, dtype: torch.dtype) -> Inputs:
    """Orthonormal embeddings; ValueError if there are more than dimensions."""
    if z > dim:
        raise ValueError(f"{z} embeddings cannot be orthonormal in {dim} dimensions")
    drawn = torch.randn(dim, z, generator=stream, device=stream.device, dtype=dtype)
    return torch.linalg.qr(drawn).Q.T


def gradient(w: Weights, u: Outputs, e: Inputs, joint: Joint) -> Weights:
    """The lemma: sum over k of E_z[(p_W(k|z) - p(k|z)) u_k e_z'], `joint` being p(z, y)."""
    predicted = torch.softmax(e @ w.T @ u.T, dim=1) * joint.sum(dim=1, keepdim=True)
    return u.T @ (predicted - joint).T @ e


def autograd(w: Tensor, logits: Callable[[Tensor], Logits], joint: Joint) -> Tensor:
    """The gradient of the loss itself by the weights that the logits are a function of."""
    w = w.clone().requires_grad_()
    said = torch.log_softmax(logits(w), dim=1)
    return torch.autograd.grad(-(joint * said).sum(), w)[0]


def one_step(u: Outputs, e: Inputs, f: Labels, eta: float) -> Weights:
    """W after one step from 0 for y = f(z), z uniform: a centred Hebbian sum."""
    n = len(e)
    memories = u.new_zeros(len(u), n)
    memories[f, torch.arange(n, device=u.device)] = 1.0
    return eta / n * u.T @ (memories - 1 / len(u)) @ e


def step_recall(n: float, dim: int) -> float:
    """The share of n pairs that one step recalls with random unit vectors, to be expected.

    With x the product of two outputs and y that of their inputs, one is ahead of the other by
    (1 - x)(1 - y) and what the other pairs add. That is s g for the output itself and
    s (x g + sqrt(1 - x^2) h) for the other, with s^2 = n/d^2 and g, h taken as normal.
    """
    far = min(1.0, 9 / dim**0.5)  # in standard deviations of a product, where it is not 1
    x = np.linspace(-far, far, 203)[1:-1]
    overlap = np.exp((dim - 3) / 2 * np.log1p(-(x**2)))  # the density of a product
    overlap /= overlap.sum()
    g, weights = np.polynomial.hermite_e.hermegauss(32)
    spread = n**0.5 / dim
    ahead = (1 - x)[:, None] * (1 - x + spread * g[:, None, None])  # by g, x and y
    beaten = norm.sf(ahead / (spread * np.sqrt(1 - x**2)[:, None]))
    lost = np.einsum("gxy,x,y->g", beaten, overlap, overlap).clip(0, 1 - 1e-15)
    return float(weights @ np.exp((n - 1) * np.log1p(-lost)) / weights.sum())


def hebbian(u: Outputs, e: Inputs, f: Labels) -> Weights:
    """The sum of u_{f(z)} e_z'."""
    return u[f].T @ e


def recalled(w: Weights, u: Outputs, e: Inputs, f: Labels) -> float:
    """The share of z with argmax_k u_k' W e_z = f(z)."""
    return float(((e @ w.T @ u.T).argmax(dim=1) == f).double().mean())
