"""Emergence times with a query at every prefix, by another route than `theory`.

The loss is written down prefix by prefix, differentiated by PyTorch and integrated by an explicit
Runge-Kutta method with dense output.
"""

import numpy as np
import torch
from scipy.integrate import solve_ivp

from emergence import models, tasks
from emergence.subspace import PseudoParameters, embed

HEAD = [2, 4, 17]


def times(loss, places, count, end):
    """When alpha, beta, gamma are 1/2 and the loss is, down the gradient of `loss` from zero."""

    def velocity(_t, state):
        point = torch.tensor(state, requires_grad=True)
        (slope,) = torch.autograd.grad(loss(point), point)
        return -slope.numpy()

    def event(height):
        return lambda _t, state: height(state) - 0.5

    def low(_t, state):
        return 0.5 - float(loss(torch.tensor(state)))

    heights = [event(lambda state, i=i: state[i]) for i in places] + [low]
    run = solve_ivp(
        velocity, (0, end), np.zeros(count), method="DOP853", events=heights,
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    return [float(result[0]) if len(result) else np.inf for result in run.t_events]


def nineteen(n_pairs, query, mask="strict"):
    """The mean loss over prefixes of the network of Eq. 1, the 19 pseudo-parameters in its weights.

    The last pair of each prefix, or the mean over all pairs of it.
    """
    dim = 2 * n_pairs
    stream = torch.Generator().manual_seed(1)
    whole = tasks.orthonormal_pairs(1, n_pairs, dim, generator=stream).inputs[0]
    batches = []
    for n in range(1, n_pairs + 1):
        wanted = range(n) if query == "uniform" else [n - 1]
        query_rows = torch.zeros(len(wanted), 1, 2 * dim, dtype=torch.float64)
        query_rows[:, 0, :dim] = whole[[2 * q for q in wanted], :dim]
        context = whole[: 2 * n].expand(len(wanted), -1, -1)
        target = whole[[2 * q + 1 for q in wanted], :dim]
        batches.append((torch.cat([context, query_rows], dim=1), target))

    def loss(point):
        weights = embed(PseudoParameters.unstack(point), dim)
        losses = [
            (models.disentangled_output(weights, inputs, mask=mask) - target)
            .square()
            .sum(dim=-1)
            .mean()
            for inputs, target in batches
        ]
        return torch.stack(losses).mean()

    return loss


def rows(n_pairs, query, mask, supervision="every"):
    """The same without weights or data: attention between coefficients of rows, at 19 numbers.

    A row's content is a unit vector, and the query's is that of the item it asks for. `supervision`
    is "every", "last", or the weights of the prefixes.
    """
    if isinstance(supervision, str):
        first = 1 if supervision == "every" else n_pairs
        supervision = [float(n >= first) / (n_pairs - first + 1) for n in range(1, n_pairs + 1)]
    asked = [
        (n, q, weight / (n if query == "uniform" else 1))
        for n, weight in enumerate(supervision, start=1)
        for q in (range(n) if query == "uniform" else [n - 1])
        if weight
    ]
    n, q, weight = (torch.tensor(part, dtype=torch.float64) for part in zip(*asked, strict=True))
    unit = torch.eye(2 * n_pairs, dtype=torch.float64)
    partner = unit.view(n_pairs, 2, -1).flip(1).reshape(unit.shape)
    seen = torch.arange(2 * n_pairs) < 2 * n[:, None]
    seen = torch.cat([seen, torch.full((len(n), 1), mask == "causal")], dim=1)
    lower = unit.new_ones(unit.shape).tril(0 if mask == "causal" else -1).bool()
    content, answer = unit[2 * q.long()], unit[2 * q.long() + 1]

    def softmax(scores, allowed):
        return scores.masked_fill(~allowed, -1e300).softmax(dim=-1) * allowed

    def dot(one, other):
        return (one * other).sum(dim=-1, keepdim=True)

    def loss(point):
        a, b, g = (dict(enumerate(part, start=1)) for part in point.split([3, 12, 4]))
        held = softmax((a[1] + a[2]) * unit + a[3] * partner, lower)
        scores = torch.cat([a[1] * content, a[1].expand(len(n), 1)], dim=1)
        paid = softmax(scores, seen)
        place, labels = paid[:, :-1], paid[:, :-1] + paid[:, -1:] * content
        on_rows = (
            b[1] * content + b[7] * labels + b[9] * place + b[10] * place @ partner
            + (b[2] * content + b[8] * labels + b[11] * place + b[12] * place @ partner) @ held.T
        )  # fmt: skip
        on_itself = (
            b[1] + (b[2] + b[7]) * dot(content, labels) + b[8] * dot(labels, labels)
            + b[11] * dot(place, place) + b[12] * dot(place, place @ partner)
        )  # fmt: skip
        paid = softmax(torch.cat([on_rows, on_itself], dim=1), seen)
        direct, itself = paid[:, :-1], paid[:, -1:]
        result = g[1] * content + g[2] * labels + g[3] * (direct + itself * content)
        result = result + g[4] * (direct @ held + itself * labels)
        return weight @ (result - answer).square().sum(dim=1)

    return loss


def head(loss):
    """A loss of nineteen with all parameters but alpha_3, beta_2, gamma_3 at zero."""
    places = torch.eye(19, dtype=torch.float64)[HEAD]
    return lambda point: loss(point @ places)
