"""Passes of the model before and after a rotation of its data, and the misprints of App. A."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Mask, Weights, allowed_positions, attention, disentangled_output
from emergence.subspace import PseudoParameters
from emergence.tasks import Batch, swap_halves

from . import structure

Form = Literal["main", "secondary"]


class Rotation(NamedTuple):
    """What turns the data: E the items and labels, F the positional embeddings (A.5)."""

    e: Float[Tensor, "dim dim"]
    f: Float[Tensor, "dim dim"]


class Passes(NamedTuple):
    """Every intermediate result of A.4 for each sequence, and the loss's gradient in each."""

    values: dict[str, Tensor]
    gradients: dict[str, Tensor]


def random_orthogonal(size: int, generator: torch.Generator) -> Float[Tensor, "size size"]:
    """An orthogonal matrix from the uniform (Haar) distribution."""
    normal = torch.randn(size, size, generator=generator, dtype=torch.float64)
    q, r = torch.linalg.qr(normal)
    return q * r.diagonal().sign()


def random_rotation(dim: int, form: Form, generator: torch.Generator) -> Rotation:
    """A random E of size D and a random F of one of the two forms of Def. 5."""
    block = random_orthogonal(dim // 2, generator)
    f = torch.block_diag(block, block)
    return Rotation(random_orthogonal(dim, generator), f if form == "main" else swap_halves(f))


def rotate(batch: Batch, rotation: Rotation) -> Batch:
    """The sequences made of a_i E, b_i E and p_i F; labels carry (p_i F) M as in Eq. 3."""
    content, position = batch.inputs.chunk(2, dim=-1)
    turned = position @ rotation.f
    turned[:, 1:-1:2] = swap_halves(position[:, 0:-1:2] @ rotation.f)
    inputs = torch.cat([content @ rotation.e, turned], dim=-1)
    return Batch(inputs, batch.target @ rotation.e, batch.query)


def forward_and_backward(weights: Weights, batch: Batch, mask: Mask = "strict") -> Passes:
    """Forward and backward pass of A.3 with its names; the loss is summed over the batch."""
    x, allowed = batch.inputs, allowed_positions(batch.inputs.shape[1], mask, batch.inputs.device)
    w1, w2, w3 = (w.detach().requires_grad_() for w in weights)
    s = x @ w1 @ x.mT
    t = attention(s, allowed)
    u = torch.cat([x, t @ x], dim=-1)
    p = u @ w2 @ u.mT
    q = attention(p, allowed)
    v = torch.cat([u, q @ u], dim=-1)
    z = v[:, -1] @ w3
    loss = (batch.target - z).square().sum()
    values = {"S": s, "T": t, "U": u, "P": p, "Q": q, "V": v, "z": z}
    wanted = {"W1": w1, "W2": w2, "W3": w3, **values}
    gradients = torch.autograd.grad(loss, list(wanted.values()))
    return Passes(
        {"X": x, "y": batch.target} | {name: value.detach() for name, value in values.items()},
        dict(zip(wanted, gradients, strict=True)),
    )


def violation(actual: Tensor, expected: Tensor, scale: Tensor | None = None) -> float:
    """The largest difference relative to the largest entry of what it is compared with."""
    reference = torch.maximum(actual.abs().max(), expected.abs().max()) if scale is None else scale
    difference = float((actual - expected).abs().max())
    return difference / float(reference.abs().max()) if difference else 0.0


def identities(
    weights: Weights, batch: Batch, rotation: Rotation, mask: Mask = "strict"
) -> dict[str, float]:
    """The relative violation of each identity of A.6 and A.7."""
    before, after = (
        forward_and_backward(weights, batch, mask),
        forward_and_backward(weights, rotate(batch, rotation), mask),
    )
    e, f = rotation
    value, turned, d, dt = before.values, after.values, before.gradients, after.gradients
    violations = {name: violation(turned[name], value[name]) for name in ("S", "T", "P", "Q")}
    for name in ("X", "U", "V"):
        violations |= _columns(name, turned[name], value[name], e, f)
    violations["z"] = violation(turned["z"], value["z"] @ e)
    violations["dL/dz"] = violation(dt["z"], d["z"] @ e)
    violations |= _columns("dL/dV", dt["V"], d["V"], e, f)
    even = d["V"].unflatten(-1, (8, -1))[..., 1::2, :]
    violations["dL/dV even = 0"] = violation(even, 0 * even, scale=d["V"])
    violations |= {f"dL/d{name}": violation(dt[name], d[name]) for name in ("Q", "P", "T", "S")}
    violations |= _columns("dL/dU", dt["U"], d["U"], e, f)
    for name in ("W3", "W2", "W1"):
        violations |= _blocks(f"dL/d{name}", dt[name], d[name], e, f, name == "W3")
    return violations


def mixed_products(inputs: Float[Tensor, "batch length width"]) -> Float[Tensor, "batch n n"]:
    """p_i^T M p_j of every sequence, which Assumption 7 sets to zero."""
    positions = inputs[:, 0:-1:2].chunk(2, dim=-1)[1]
    return positions @ swap_halves(positions).mT


def model_gap(weights: Weights, batch: Batch, mask: Mask = "strict") -> float:
    """How far `forward_and_backward` is from the model of the book, in z and the gradients of W."""
    ours = forward_and_backward(weights, batch, mask)
    free = Weights(*(w.detach().requires_grad_() for w in weights))
    z = disentangled_output(free, batch.inputs)
    gradients = torch.autograd.grad((batch.target - z).square().sum(), free)
    pairs = [(ours.values["z"], z.detach())]
    pairs += [(ours.gradients[f"W{k + 1}"], g) for k, g in enumerate(gradients)]
    return max(violation(a, b) for a, b in pairs)


def formulas_gap(
    formulas: dict, pseudo: PseudoParameters, weights: Weights, batch: Batch
) -> dict[str, float]:
    """How far formulas for S, P and z in blocks are from the model's S, P and z."""
    values = forward_and_backward(weights, batch).values
    expected = _evaluated(formulas, pseudo, weights, batch)
    expected["z"] = expected["z"][:, -1]
    return {name: violation(expected[name], values[name]) for name in expected}


def gradients_gap(
    formulas: dict, pseudo: PseudoParameters, weights: Weights, batch: Batch
) -> dict[str, float]:
    """The differences between formulas for the gradients, by name, and autograd."""
    gradients = forward_and_backward(weights, batch).gradients
    dim, gaps = batch.target.shape[-1], {}
    for name, value in _evaluated(formulas, pseudo, weights, batch).items():
        kind, _, places = name.partition("_")
        block = [slice(int(digit) * dim - dim, int(digit) * dim) for digit in places]
        if kind.startswith("W"):
            gaps[name] = violation(value.sum(dim=0), gradients[kind][tuple(block)])
        else:
            expected = gradients[kind][..., block[0]] if block else gradients[kind]
            gaps[name] = violation(value.expand_as(expected), expected, scale=gradients[kind])
    return gaps


def _evaluated(
    formulas: dict, pseudo: PseudoParameters, weights: Weights, batch: Batch
) -> dict[str, Tensor]:
    """The formulas with the model's own matrices in place of the letters."""
    values, gradients = forward_and_backward(weights, batch)
    letters = {"T": values["T"], "Q": values["Q"], "G": gradients["P"], "H": gradients["S"]}
    for name, count in (("X", 2), ("U", 4)):
        for i, block in enumerate(values[name].chunk(count, dim=-1)):
            letters[f"{name}_{i + 1}"] = block
    letters["M"] = swap_halves(torch.eye(weights.w3.shape[1], dtype=torch.float64))
    letters["g"] = torch.zeros_like(letters["X_1"])
    letters["g"][:, -1] = gradients["z"]
    symbols = (*structure.ALPHA, *structure.BETA, *structure.GAMMA)
    scalars = {s.name: float(v) for s, v in zip(symbols, pseudo.stacked(), strict=True)}
    return {name: structure.evaluate(f, letters, scalars) for name, f in formulas.items()}


def _columns(name: str, turned: Tensor, value: Tensor, e: Tensor, f: Tensor) -> dict[str, float]:
    """Odd column blocks should be turned by E and even ones by F."""
    now, before = (rows.unflatten(-1, (-1, len(e))) for rows in (turned, value))
    return {
        f"{name} odd": violation(now[..., 0::2, :], before[..., 0::2, :] @ e, scale=now),
        f"{name} even": violation(now[..., 1::2, :], before[..., 1::2, :] @ f, scale=now),
    }


def _blocks(
    name: str, turned: Tensor, value: Tensor, e: Tensor, f: Tensor, output: bool
) -> dict[str, float]:
    """Block (i, j) should become R^T (block) C, with E for odd and F for even places."""
    dim = len(e)
    now, before = (
        w.unflatten(0, (-1, dim)).unflatten(-1, (-1, dim)).movedim(2, 1) for w in (turned, value)
    )
    columns = (("", e),) if output else ((" odd", e), (" even", f))
    return {
        f"{name} {row}{column}": violation(
            now[i::2, j::2], left.T @ before[i::2, j::2] @ right, scale=now
        )
        for i, (row, left) in enumerate((("odd", e), ("even", f)))
        for j, (column, right) in enumerate(columns)
    }


class Slip(NamedTuple):
    """Relative violation of an equation as printed and as meant."""

    printed: float
    meant: float


def all_slips(
    weights: Weights, batch: Batch, rotation: Rotation, mask: Mask = "strict"
) -> dict[str, Slip]:
    """Every slip that a number can show, at structured weights, under the rotation of the data."""
    before, after = (
        forward_and_backward(weights, batch, mask),
        forward_and_backward(weights, rotate(batch, rotation), mask),
    )
    d, dt, e = before.gradients, after.gradients, rotation.e
    dv, dv_t = (each["V"].unflatten(-1, (-1, len(e)))[..., 0::2, :] for each in (d, dt))
    repeated = weights.w2[: len(e)].repeat(4, 1)
    u = before.values["U"]
    return {
        "A.4, rows of W2": Slip(
            violation(u @ repeated @ u.mT, before.values["P"]),
            violation(u @ weights.w2 @ u.mT, before.values["P"]),
        ),
        "Eq. 12": Slip(violation(dv_t @ e, dv), violation(dv_t, dv @ e)),
        "A.7.2, dL/dP": Slip(
            violation(_score_gradient(before, "Q", same_row=True), d["P"]),
            violation(_score_gradient(before, "Q", same_row=False), d["P"]),
        ),
        "Eq. 14, keys": Slip(
            violation(stream_gradient(before, weights, keys=False), d["U"]),
            violation(stream_gradient(before, weights), d["U"]),
        ),
        "Eq. 15, W2": Slip(
            violation(stream_gradient(before, weights, weighted=False), d["U"]),
            violation(stream_gradient(before, weights), d["U"]),
        ),
        "A.7.2, dL/dU": Slip(violation(dt["U"], _turned(dt["U"], rotation)),
                             violation(dt["U"], _turned(d["U"], rotation))),
        "A.7.3, dL/dS": Slip(
            violation(_score_gradient(before, "T", same_row=True), d["S"]),
            violation(_score_gradient(before, "T", same_row=False), d["S"]),
        ),
    }  # fmt: skip


def stream_gradient(
    found: Passes, weights: Weights, *, keys: bool = True, weighted: bool = True
) -> Tensor:
    """dL/dU by the chain rule (Eq. 14): directly, through Q U, and through P as query and as key.

    Without `keys` the last term is missing, as in Eq. 14; without `weighted` dP/dU is U instead
    of U W2^T, as in Eq. 15.
    """
    u, q, d = found.values["U"], found.values["Q"], found.gradients
    direct, retrieved = d["V"].chunk(2, dim=-1)
    w2 = weights.w2 if weighted else torch.eye(len(weights.w2), dtype=u.dtype)
    total = direct + q.mT @ retrieved + d["P"] @ u @ w2.mT
    return total + d["P"].mT @ u @ w2 if keys else total


def _score_gradient(found: Passes, name: str, *, same_row: bool) -> Tensor:
    """dL/dP from dL/dQ, or dL/dS from dL/dT, by the derivative of the softmax.

    With `same_row` the retrieved row carries the summation index j instead of k, as printed: then
    only j = k contributes, what a position retrieves from itself.
    """
    pattern, gradient = found.values[name], found.gradients[name]
    if same_row:
        gradient = torch.diag_embed(gradient.diagonal(dim1=-2, dim2=-1))
    return pattern * (gradient - (gradient * pattern).sum(dim=-1, keepdim=True))


def _turned(rows: Tensor, rotation: Rotation) -> Tensor:
    blocks = rows.unflatten(-1, (-1, len(rotation.e))).clone()
    blocks[..., 0::2, :] = blocks[..., 0::2, :] @ rotation.e
    blocks[..., 1::2, :] = blocks[..., 1::2, :] @ rotation.f
    return blocks.flatten(-2)
