"""The law of Zucchet and others with a loss at every position: one attention step, and copies.

One attention step is layer 2 with layer 1 given and an output that learns slowly, as in the chapter
Rival laws. Copies are those of a context in which all pairs come in turn, several times.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from emergence import theory
from emergence.theory import Landscape, contexts
from running import sweep

GIVEN = 40.0  # layer 1 given: e^40 outweighs any context
DIM = 1024  # an output that learns at the rate 1/d, as in their equations
Head = Literal["one step", "whole head"]


@dataclass(frozen=True)
class Repeated:
    """A flow in a context of N places with N / copies pairs in turn.

    Attributes:
        n_places: places N.
        copies: of each pair, a divisor of N.
        every: whether each prefix is asked for its last pair, instead of the whole context alone.
        head: `one step`, layer 1 given and a slow output, or `whole head`, nothing given.
    """

    n_places: int
    copies: int
    every: bool
    head: Head


def speedups(n_places: int, copies: int) -> dict[tuple[Head, bool], float]:
    """Times without copies over times with them, by head and by whether every prefix is asked.

    Args:
        n_places: places N.
        copies: of each pair, a divisor of N.

    Raises:
        ValueError: where the copies do not divide N.
    """
    keys: list[tuple[Head, bool]] = [
        (head, every) for head in get_args(Head) for every in (False, True)
    ]
    flows = [Repeated(n_places, b, every, head) for head, every in keys for b in (1, copies)]
    times = iter(sweep.run(repeated_time, flows, label="copies"))
    return {key: next(times) / next(times) for key in keys}


def repeated_time(flow: Repeated) -> float:
    """When beta of one step, or alpha of the whole head, emerges; a run of a sweep."""
    distinct = flow.n_places // flow.copies
    if flow.copies == 1:
        land = theory.landscape_of(flow.n_places, supervision="every" if flow.every else "last")
    elif flow.every:
        land = prefixes_of_copies(flow.n_places, distinct)
    else:
        land = contexts.landscape(contexts.cyclic(distinct, flow.copies), distinct - 1)
    return one_step_time(land) if flow.head == "one step" else theory.times_in(land).alpha


def one_step_time(landscape: Landscape) -> float:
    """When beta emerges with layer 1 given and an output that learns at the rate 1/d.

    Infinity for never, in flow time at unit learning rate.
    """
    return theory.times_in(
        landscape, rates=theory.Rates(0.0, 1.0, 1 / DIM), start=(GIVEN, 0.0, 0.0),
        end=100.0 * landscape.pairs * DIM**0.5,
    ).beta  # fmt: skip


def step_pull(n_places: int, copies: int) -> float:
    """The sum over prefixes of n places of c/n, with c copies of the pair asked for.

    Args:
        n_places: places N, filled with N / B pairs in turn.
        copies: B, a divisor of N; H_N for 1.
    """
    sizes = np.arange(1, n_places + 1)
    return float(np.sum(((sizes - 1) // (n_places // copies) + 1) / sizes))


def prefixes_of_copies(n_places: int, distinct: int) -> Landscape:
    """The mean loss over all prefixes, each asked for its last pair, K pairs in turn (this book).

    All prefixes at once, a row each, in a time of order N^2; gradients by automatic
    differentiation. With K = N it is the mean of `theory.landscape_of(N, supervision="every")`.

    Args:
        n_places: places N, a multiple of K.
        distinct: pairs K.

    Raises:
        ValueError: where K does not divide N.
    """
    if n_places % distinct:
        raise ValueError(f"{distinct} pairs do not fill {n_places} places in turn")
    place = torch.arange(n_places, dtype=torch.float64)
    wanted = place[:, None] % distinct  # of the prefix that ends at a row's own place
    seen = place <= place[:, None]
    held = (seen & (place % distinct == wanted)).double()
    before = held.cumsum(dim=1) - held  # copies at earlier places
    item = before / (2 * place).clamp(min=1)
    goal = torch.eye(distinct, dtype=torch.float64)[wanted[:, 0].long()]

    def loss_of(point: Tensor) -> Tensor:
        shrunk = (-point[0]).exp()
        label = (before * shrunk + held) / (2 * place * shrunk + 1)
        scores = point[1] * torch.stack([item, label])
        raised = seen * (scores - scores.detach().amax()).exp()
        attention = raised / raised.sum(dim=(0, 2))[:, None]
        found = attention.unflatten(-1, (-1, distinct)).sum(dim=2)  # over copies
        errors = point[2] * found
        errors = torch.stack([errors[0], errors[1] - goal])
        return errors.square().sum() / n_places

    def loss(*parameters: float) -> float:
        return float(loss_of(torch.tensor(parameters, dtype=torch.float64)))

    def gradient(*parameters: float) -> tuple[float, ...]:
        point = torch.tensor(parameters, dtype=torch.float64, requires_grad=True)
        (slope,) = torch.autograd.grad(loss_of(point), point)
        return tuple(slope.tolist())

    return Landscape(loss, gradient, n_places)
