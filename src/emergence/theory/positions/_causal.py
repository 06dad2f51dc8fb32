"""The loss under the causal mask, where a position attends to itself as well: all 19 parameters.

The sums are those of `theory._full`, with a few more terms. In layer 1 item k attends to each
of the 2k earlier rows with `item` = 1/(2k + d) and to itself with d item, where d = e^(alpha_1 +
alpha_2). Label k attends to each earlier row but its item with `label` = 1/(2k + e^alpha_3 + d), to
its item with e^alpha_3 label, and to itself with d label. The query, a copy of item q without a
position, finds item q twice, there and in itself. In layer 2 it attends to itself too, and what it
finds there counts as item q. Every row attends to something, so row 0 is like the others.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from .._flow import Landscape
from ._full import Part, before, landscape_of_parts, squares_of
from ._weighting import BLOCK, Weighting, compressed

Sum = Callable[[Tensor], Tensor]


def landscape_of_last(weights: Weighting) -> Landscape:
    """The full model's mean loss over prefixes, for the last pair; the cost is of order N."""
    used, sizes = (torch.from_numpy(part) for part in compressed(weights))
    return landscape_of_parts(weights, [lambda point: used @ _of_last(point, sizes)])


def landscape_of_any(weights: Weighting) -> Landscape:
    """The full model's mean loss over prefixes, for any pair; the cost is of order N log N."""
    used, sizes = (torch.from_numpy(part) for part in compressed(weights))
    blocks = [slice(start, start + BLOCK) for start in range(0, len(sizes), BLOCK)]
    return landscape_of_parts(weights, [_block(used[b], sizes[b, None]) for b in blocks])


def _block(used: Tensor, sizes: Tensor) -> Part:
    return lambda point: used @ _of_any(point, sizes)


def _of_last(point: Tensor, sizes: Tensor) -> Tensor:
    """The loss minus 1 of each prefix, asked for its last pair, which has no other after it."""
    return _excess(point, sizes, sizes - 1, torch.zeros_like)


def _of_any(point: Tensor, sizes: Tensor) -> Tensor:
    """The loss minus 1 of each prefix, a column of sizes: the mean over the pairs asked for."""
    q = torch.arange(int(sizes[-1]))
    present = (q < sizes).double()

    def after(terms: Tensor) -> Tensor:
        # summed from the end: a difference of sums would lose digits to the first pair's large term
        sums = (terms[..., 1:] * present[:, 1:]).flip(-1).cumsum(-1).flip(-1)
        return torch.nn.functional.pad(sums, (0, 1))

    return (_excess(point, sizes, q, after) * present).sum(dim=-1) / sizes.squeeze(-1)


def _excess(point: Tensor, sizes: Tensor, q: Tensor, after: Sum) -> Tensor:
    """The loss minus 1 of prefixes asked for pair q; `after` sums over the pairs k > q."""
    beta = dict(enumerate(point[3:15].unbind(), start=1))
    gamma = dict(enumerate(point[15:].unbind(), start=1))

    # layer 1: the context, then what the query holds of item q, and beyond what it does of others
    k = torch.arange(int(sizes[-1]), dtype=torch.float64)
    e, itself, raised = point[0].exp(), (point[0] + point[1]).exp(), point[2].exp()
    item, label = 1 / (2 * k + itself), 1 / (2 * k + raised + itself)
    shares = (item + label).cumsum(0)
    rest = 1 / (2 * sizes - 1 + 2 * e)
    held = 2 * e * rest
    more, ahead = held - rest, (e - 1) * rest  # in contents, in positions

    # of the rows before pair q, what is not equal for all of them
    past = (
        gamma[3] + gamma[4] * (itself * item + raised * label - shares),
        gamma[3] + gamma[4] * (itself * label - shares),
    )
    linear, square = before(past[0] + past[1])[q], before(squares_of(past))[q]

    # layer 2: attention, not normed
    earlier, item, label = before(item + label)[q], item[q], label[q]
    looking = beta[2] + beta[8] * more + beta[11] * ahead
    both = looking + beta[12] * ahead
    on_item = (beta[1] + beta[7] * more + beta[9] * ahead + looking * itself * item).exp()
    on_label = (beta[10] * ahead + (looking * raised + beta[12] * ahead * itself) * label).exp()
    on_itself = (
        beta[1] + beta[2] * held + more * (beta[7] + beta[8] * held) - rest * (beta[9] + beta[10])
        + beta[11] * (rest**2 * (2 * sizes - 1 + e**2) - rest)
        + beta[12] * (rest**2 * (2 * sizes - 2 + 2 * e) - rest)
    ).exp()  # fmt: skip
    late_item, late_label = (both * item).exp(), (both * label).exp()
    norm = 2 * q + on_item + on_label + on_itself + after(late_item + late_label)
    through = after(late_item * item + late_label * label)

    # what the output holds of each content
    equal = gamma[2] * rest + gamma[4] * on_itself * rest / norm
    early = equal + gamma[4] * (through + on_item * item + on_label * label + earlier) / norm
    by_item, by_label = gamma[3] + gamma[4] * itself * item, gamma[3] + gamma[4] * itself * label
    passed = gamma[4] * (through + late_label * raised * label), gamma[4] * through
    late = by_item * late_item + passed[0], by_label * late_label + passed[1]
    right = equal + (by_label * on_label + gamma[4] * through) / norm
    wrong = equal + gamma[1] + gamma[2] * more + (
        by_item * on_item + gamma[4] * (through + on_label * raised * label)
        + (gamma[3] + gamma[4] * more) * on_itself
    ) / norm  # fmt: skip
    excess = right**2 + wrong**2 - 2 * right
    for count, each, total, of_squares in (
        (2 * (sizes - 1 - q), equal, after(late[0] + late[1]), after(squares_of(late))),
        (2 * q, early, linear, square),
    ):
        excess = excess + count * each**2 + 2 * each * total / norm + of_squares / norm**2
    return excess
