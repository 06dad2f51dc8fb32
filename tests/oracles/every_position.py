"""Emergence times with a query at every prefix, by another route than `theory.positions`.

The loss is written down prefix by prefix, differentiated by PyTorch and integrated by an explicit
Runge-Kutta method with dense output. Three parameters: the attention of layer 2 as a softmax over
the scores of all rows. Nineteen: the network itself, on orthonormal data.
"""

import numpy as np
import torch
from scipy.integrate import solve_ivp

from emergence import models, tasks
from emergence.subspace import PseudoParameters, embed

HEAD = {3: (0, 1, 2), 19: (2, 4, 17)}


def times(loss, count, end):
    """When alpha, beta, gamma are 1/2 and the loss is, down the gradient of `loss` from zero."""

    def velocity(_t, state):
        point = torch.tensor(state, requires_grad=True)
        (slope,) = torch.autograd.grad(loss(point), point)
        return -slope.numpy()

    def event(height):
        return lambda _t, state: height(state) - 0.5

    def low(_t, state):
        return 0.5 - float(loss(torch.tensor(state)))

    heights = [event(lambda state, i=i: state[i]) for i in HEAD[count]] + [low]
    run = solve_ivp(
        velocity, (0, end), np.zeros(count), method="DOP853", events=heights,
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip
    assert all(len(found) for found in run.t_events)
    return [float(found[0]) for found in run.t_events]


def three(n_pairs, query):
    """The mean loss over prefixes of the three-parameter model, at a tensor of all three."""
    if query == "last":
        n = torch.arange(1, n_pairs + 1, dtype=torch.float64)

        def last(point):
            alpha, beta, gamma = point
            share = alpha.exp() / (alpha.exp() + 2 * n - 2)
            target = (beta * share).exp() / ((beta * share).exp() + 2 * n - 1)
            other = (1 - target) / (2 * n - 1)
            wrong = (gamma * target - 1) ** 2 + (2 * n - 1) * (gamma * other) ** 2
            return wrong.mean()

        return last

    def uniform(point):
        alpha, beta, gamma = point
        total = 0.0
        for n in range(1, n_pairs + 1):
            k = torch.arange(n, dtype=torch.float64)
            held = torch.eye(n, dtype=torch.float64)  # pair asked for, pair of the row
            before = (k[:, None] < k).double()
            label = (alpha.exp() * held + before) / (2 * k + alpha.exp())
            item = torch.where(k > 0, before / (2 * k).clamp(min=1), 0.0)
            paid = (beta * torch.cat([item, label], dim=1)).softmax(dim=1)
            answer = torch.cat([torch.zeros_like(held), held], dim=1)
            total = total + ((gamma * paid - answer) ** 2).sum() / n
        return total / n_pairs

    return uniform


def nineteen(n_pairs, query):
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
            (models.disentangled_output(weights, inputs) - target).square().sum(dim=-1).mean()
            for inputs, target in batches
        ]
        return torch.stack(losses).mean()

    return loss
