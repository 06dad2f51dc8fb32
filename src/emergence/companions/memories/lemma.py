"""Gradients as memories: a step of cross-entropy on F_W(z)_k = u_k' W e_z in closed form."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

Embeddings = Float[Tensor, "n d"]


def unit(n: int, dim: int, stream: torch.Generator, dtype: torch.dtype) -> Embeddings:
    """Embeddings drawn uniformly from the unit sphere."""
    return normalize(torch.randn(n, dim, generator=stream, dtype=dtype), dim=1)


def orthonormal(n: int, dim: int, stream: torch.Generator, dtype: torch.dtype) -> Embeddings:
    """Orthonormal embeddings; ValueError if there are more than dimensions."""
    if n > dim:
        raise ValueError(f"{n} embeddings cannot be orthonormal in {dim} dimensions")
    return torch.linalg.qr(torch.randn(dim, n, generator=stream, dtype=dtype)).Q.T


def gradient(
    w: Float[Tensor, "d d"], u: Embeddings, e: Embeddings, joint: Float[Tensor, "n n"]
) -> Float[Tensor, "d d"]:
    """The lemma: sum over k of E_z[(p_W(k|z) - p(k|z)) u_k e_z'], `joint` being p(z, y)."""
    predicted = torch.softmax(e @ w.T @ u.T, dim=1) * joint.sum(dim=1, keepdim=True)
    return u.T @ (predicted - joint).T @ e


def autograd(
    w: Float[Tensor, "d d"], u: Embeddings, e: Embeddings, joint: Float[Tensor, "n n"]
) -> Float[Tensor, "d d"]:
    """The same gradient, of the loss itself."""
    w = w.clone().requires_grad_()
    logits = torch.log_softmax(e @ w.T @ u.T, dim=1)
    return torch.autograd.grad(-(joint * logits).sum(), w)[0]


def one_step(
    u: Embeddings, e: Embeddings, f: Int[Tensor, " n"], eta: float
) -> Float[Tensor, "d d"]:
    """W after one step from 0 for y = f(z), z uniform: a centred Hebbian sum."""
    n = len(e)
    memories = torch.zeros(len(u), n, dtype=u.dtype)
    memories[f, torch.arange(n)] = 1.0
    return eta / n * u.T @ (memories - 1 / len(u)) @ e


def hebbian(u: Embeddings, e: Embeddings, f: Int[Tensor, " n"]) -> Float[Tensor, "d d"]:
    """The sum of u_{f(z)} e_z'."""
    return u[f].T @ e


def recalled(
    w: Float[Tensor, "d d"], u: Embeddings, e: Embeddings, f: Int[Tensor, " n"]
) -> float:
    """The share of z with argmax_k u_k' W e_z = f(z)."""
    return float(((e @ w.T @ u.T).argmax(dim=1) == f).double().mean())


def loss(w: Float[Tensor, "d d"], u: Embeddings, e: Embeddings, f: Int[Tensor, " n"]) -> Tensor:
    """Cross-entropy for uniform z."""
    return cross_entropy(e @ w.T @ u.T, f)
