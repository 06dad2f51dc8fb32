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
    return [float(result[0]) if len(result) else np.inf for result in run.t_events]


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


def three_causal(weights):
    """The same for the last pair where a row attends to itself: three rows with a score."""
    n = torch.arange(1, len(weights) + 1, dtype=torch.float64)
    weights = torch.tensor(weights, dtype=torch.float64)

    def loss(point):
        alpha, beta, gamma = point
        label = alpha.exp() / (alpha.exp() + 2 * n - 1)
        scores = beta * torch.stack([label, 1 / (2 * n - 1), 2 / (2 * n + 1)])
        blank = (2 * n - 2).log()[None]  # all rows before the pair, of which each has the score 0
        right, item, query, others = torch.cat([scores, blank]).softmax(dim=0)
        wrong = (gamma * right - 1) ** 2 + (gamma * (item + query)) ** 2
        return weights @ (wrong + (gamma * others) ** 2 / (2 * n - 2).clamp(min=1))

    return loss


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

    A row's content is a unit vector, and the query's is that of the item it asks for.
    """
    prefixes = range(1, n_pairs + 1) if supervision == "every" else [n_pairs]
    asked = [
        (n, q, 1 / (len(prefixes) * (n if query == "uniform" else 1)))
        for n in prefixes
        for q in (range(n) if query == "uniform" else [n - 1])
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
        place, labels_seen = paid[:, :-1], paid[:, :-1] + paid[:, -1:] * content
        on_rows = (
            b[1] * content + b[7] * labels_seen + b[9] * place + b[10] * place @ partner
            + (b[2] * content + b[8] * labels_seen + b[11] * place + b[12] * place @ partner) @ held.T
        )  # fmt: skip
        on_itself = (
            b[1] + (b[2] + b[7]) * dot(content, labels_seen) + b[8] * dot(labels_seen, labels_seen)
            + b[11] * dot(place, place) + b[12] * dot(place, place @ partner)
        )  # fmt: skip
        paid = softmax(torch.cat([on_rows, on_itself], dim=1), seen)
        direct, itself = paid[:, :-1], paid[:, -1:]
        result = g[1] * content + g[2] * labels_seen + g[3] * (direct + itself * content)
        result = result + g[4] * (direct @ held + itself * labels_seen)
        return weight @ (result - answer).square().sum(dim=1)

    return loss


def head(loss):
    """A loss of nineteen with all parameters but alpha_3, beta_2, gamma_3 at zero."""
    places = torch.eye(19, dtype=torch.float64)[list(HEAD[19])]
    return lambda point: loss(point @ places)
