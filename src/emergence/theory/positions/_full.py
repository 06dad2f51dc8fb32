"""All nineteen pseudo-parameters with a query at every position: a mean over prefixes.

The sums are those of `theory._full`, which explains them, with one more axis: rows are
prefixes of n pairs, and columns are pairs. The prefix matters only through the query, which has
more rows to attend to in layer 1, and through the pairs after the queried one. Gradients are taken
by automatic differentiation.
"""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from .._flow import Landscape
from ._weighting import BLOCK, Weighting, compressed, prefixes

Part = Callable[[Tensor], Tensor]


def landscape_of_last(weights: Weighting) -> Landscape:
    """The full model's mean loss over prefixes, for the last pair; the cost is of order N."""
    used, sizes = (torch.from_numpy(part) for part in prefixes(weights))
    return landscape_of_parts(weights, [lambda point: used @ _asked_for_last(point, sizes)])


def landscape_of_any(weights: Weighting) -> Landscape:
    """The full model's mean loss over prefixes, for any pair; the cost is of order N^2."""
    return landscape_of_parts(weights, list(_blocks(weights)))


def _blocks(weights: Weighting) -> Iterator[Part]:
    used, sizes = (torch.from_numpy(part) for part in compressed(weights))
    for start in range(0, len(sizes), BLOCK):
        yield _block(used[start : start + BLOCK], sizes[start : start + BLOCK, None])


def _block(used: Tensor, sizes: Tensor) -> Part:
    return lambda point: used @ _asked_for_any(point, sizes)


def landscape_of_parts(weights: Weighting, parts: list[Part]) -> Landscape:
    """The sum of the parts, whose weights have a sum of 1, with its gradient."""

    def loss(*parameters: float) -> float:
        point = _point(parameters)
        return float(sum(part(point) for part in parts)) + 1

    def gradient(*parameters: float) -> tuple[float, ...]:
        point = _point(parameters).requires_grad_()
        for part in parts:  # one after another: a graph of all blocks would not fit the cache
            part(point).backward()
        assert point.grad is not None
        return tuple(point.grad.tolist())

    return Landscape(loss, gradient, len(weights), groups=(3, 12, 4), head=(2, 4, 17))


def _point(parameters: Sequence[float]) -> Tensor:
    if len(parameters) != 19:
        raise ValueError(f"there are 19 pseudo-parameters (Theorem 1), got {len(parameters)}")
    return torch.tensor(parameters, dtype=torch.float64)


class _Layers:
    """What both query rules share: attention of layer 1, and scores of layer 2 by prefix."""

    def __init__(self, point: Tensor, sizes: Tensor, k: Tensor) -> None:
        beta = dict(enumerate(point[3:15].unbind(), start=1))
        self.gamma = dict(enumerate(point[15:].unbind(), start=1))
        late = k > 0
        raised = point[2].exp()
        self.item = torch.where(late, 0.5 / k.clamp(min=1), 0.0)
        self.label = 1 / (2 * k + raised)
        self.own = raised * self.label
        self.share = torch.where(late, self.item + self.label, 0.0)
        self.shares = self.share.cumsum(0)

        e = point[0].exp()
        self.rest = 1 / (2 * sizes - 1 + e)
        self.ahead = (e - 1) * self.rest
        looking = beta[2] + (beta[8] + beta[11]) * self.ahead
        self.both = looking + beta[12] * self.ahead
        self.looking = looking
        # row 0 looks at nothing
        self.first = (-(beta[8] + beta[11] + beta[12]) * self.rest).exp()
        self.to_item = (beta[1] + (beta[7] + beta[9]) * self.ahead).exp()
        self.to_label = beta[10] * self.ahead


def _asked_for_last(point: Tensor, sizes: Tensor) -> Tensor:
    """The loss minus 1 of each prefix, the query asking for the pair with no other after it."""
    q = sizes - 1
    f = _Layers(point, sizes, torch.arange(int(sizes[-1]), dtype=torch.float64))
    gamma, item, label, own_label = f.gamma, f.item[q], f.label[q], f.own[q]
    on_item = f.to_item * torch.where(q > 0, 1.0, f.first)
    on_label = (f.to_label + f.looking * own_label).exp()
    some = (q > 0).double()  # whether there is a row 0 before the pair
    norm = 2 * q + some * (f.first - 1) + on_item + on_label

    equal_late = gamma[2] * f.rest
    early = on_item * item + on_label * label + f.shares[q] - f.share[q]
    equal_early = equal_late + gamma[4] * early / norm
    right = equal_late + gamma[3] * on_label / norm
    wrong = equal_late + (gamma[3] * on_item + gamma[4] * on_label * own_label) / norm
    held_wrong = wrong + gamma[2] * f.ahead + gamma[1]
    # of the rows before the pair, as if row 0 were like the others, and what it adds to that
    past = gamma[3] - gamma[4] * (f.shares - f.own), gamma[3] - gamma[4] * f.shares
    more = gamma[3] * (f.first - 1)
    linear = before(past[0] + past[1])[q] + some * more
    square = before(past[0] ** 2 + past[1] ** 2)[q] + some * more * (more + 2 * past[0][0])

    squares = right**2 + held_wrong**2
    squares = squares + 2 * q * equal_early**2 + 2 * equal_early * linear / norm + square / norm**2
    return squares - 2 * right


def _asked_for_any(point: Tensor, sizes: Tensor) -> Tensor:
    """The loss minus 1 of each prefix, a column of sizes: the mean over the pairs asked for."""
    k = torch.arange(int(sizes[-1]), dtype=torch.float64)
    f = _Layers(point, sizes, k)
    gamma, first = f.gamma, torch.where(k > 0, 1.0, f.first)
    present = (k < sizes).double()
    late = present * (k > 0)  # pairs that come after some other
    on_item = f.to_item * first
    on_label = (f.to_label + f.looking * f.own).exp()
    late_item, late_label = (f.both * f.item).exp(), (f.both * f.label).exp()

    def after(terms: Tensor) -> Tensor:
        """The sum over pairs k > q of the prefix, for every q."""
        whole = (terms * late).cumsum(-1)
        return whole[:, -1:] - whole

    through = after(late_item * f.item + late_label * f.label)
    norm = 2 * k + torch.where(k > 0, f.first - 1, 0.0) + on_item + on_label
    norm = norm + after(late_item + late_label)
    early = through + on_item * f.item + on_label * f.label + f.shares - f.share

    equal_late = gamma[2] * f.rest
    equal_early = equal_late + gamma[4] * early / norm
    right = equal_late + (gamma[3] * on_label + gamma[4] * through) / norm
    wrong = equal_late + (gamma[3] * on_item + gamma[4] * (through + on_label * f.own)) / norm
    held_wrong = wrong + gamma[2] * f.ahead + gamma[1]
    # Rows after pair q hold what pairs after them pass on: `through` of that pair, not of q.
    held_late = (
        gamma[3] * late_item + gamma[4] * (through + late_label * f.own),
        gamma[3] * late_label + gamma[4] * through,
    )
    past = gamma[3] * first - gamma[4] * (f.shares - f.own), gamma[3] - gamma[4] * f.shares
    squares = right**2 + held_wrong**2
    for count, equal, total, square in (
        (
            2 * (sizes - 1 - k),
            equal_late,
            after(held_late[0] + held_late[1]),
            after(squares_of(held_late)),
        ),
        (2 * k, equal_early, before(past[0] + past[1]), before(squares_of(past))),
    ):
        squares = squares + count * equal**2 + 2 * equal * total / norm + square / norm**2
    return ((squares - 2 * right) * present).sum(dim=-1) / sizes.squeeze(-1)


def before(terms: Tensor) -> Tensor:
    """The sum over pairs k < q, for every q."""
    return terms.cumsum(-1) - terms


def squares_of(parts: tuple[Tensor, Tensor]) -> Tensor:
    return parts[0] ** 2 + parts[1] ** 2
