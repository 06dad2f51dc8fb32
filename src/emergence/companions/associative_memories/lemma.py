"""Gradients as associative memories: a step of cross-entropy on u_k' W e_z in closed form."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

Inputs = Float[Tensor, "z d"]
Outputs = Float[Tensor, "k d"]
Labels = Int[Tensor, " z"]  # f(z)
Weights = Float[Tensor, "d d"]


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


def gradient(w: Weights, u: Outputs, e: Inputs, joint: Float[Tensor, "z k"]) -> Weights:
    """The lemma: sum over k of E_z[(p_W(k|z) - p(k|z)) u_k e_z'], `joint` being p(z, y)."""
    predicted = torch.softmax(e @ w.T @ u.T, dim=1) * joint.sum(dim=1, keepdim=True)
    return u.T @ (predicted - joint).T @ e


def autograd(w: Weights, u: Outputs, e: Inputs, joint: Float[Tensor, "z k"]) -> Weights:
    """The same gradient, of the loss itself."""
    w = w.clone().requires_grad_()
    logits = torch.log_softmax(e @ w.T @ u.T, dim=1)
    return torch.autograd.grad(-(joint * logits).sum(), w)[0]


def one_step(u: Outputs, e: Inputs, f: Labels, eta: float) -> Weights:
    """W after one step from 0 for y = f(z), z uniform: a centred Hebbian sum."""
    n = len(e)
    memories = u.new_zeros(len(u), n)
    memories[f, torch.arange(n, device=u.device)] = 1.0
    return eta / n * u.T @ (memories - 1 / len(u)) @ e


def stray(n: int, dim: int) -> float:
    """Root mean square of u_k' W_1 e_z from its ideal value, random unit vectors, per eta/N.

    With M the memories around their mean and A, B the overlaps of outputs and of inputs, of
    variance 1/d off the diagonal, logits are (1 + A) M (1 + B) and stray by A M + M B + A M B.
    """
    other = 1 - 1 / n
    return (2 * other**2 / dim + n * other**3 / dim**2) ** 0.5


def hebbian(u: Outputs, e: Inputs, f: Labels) -> Weights:
    """The sum of u_{f(z)} e_z'."""
    return u[f].T @ e


def recalled(w: Weights, u: Outputs, e: Inputs, f: Labels) -> float:
    """The share of z with argmax_k u_k' W e_z = f(z)."""
    return float(((e @ w.T @ u.T).argmax(dim=1) == f).double().mean())
