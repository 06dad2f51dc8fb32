"""The prior of weight decay: a bound, and trained networks.

A universal machine of constant weight: a cyclic tag system that prints, on a shared tape.

The data are a queue of bits, at first a single 1. A program is a list of commands, some run once
and the rest for ever. All but one read the front of the queue and do nothing if it is 0.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import resumable

from .model import LINKS, End, LoopedNetwork, Wiring, add_and


def surprise(weights: int, species: int, cells: int, *, copies: bool) -> float:
    """An upper bound on -log2 Q of what a network prints, in bits, from the network alone.

    Q draws every weight of an architecture with so many species and cells from {-1, 0, 1} with
    probability proportional to exp(-lambda |w|), where lambda = ln(2 S^2 N). With `copies` all
    (N - 1)! relabellings count, which is exact for a network that no relabelling leaves alone.
    """
    ratio = 1 / (2 * species**2 * cells)  # exp(-lambda)
    slots = (species * cells) ** 2 + len(LINKS) * species**2
    bits = -weights * math.log2(ratio) + slots * math.log1p(2 * ratio) / math.log(2)
    return bits - (math.lgamma(cells) / math.log(2) if copies else 0.0)


def per_command(species: int) -> float:
    """The limit of `surprise` a cell, copies counted, where W = N + O(1)."""
    return 2 * math.log2(species) + 1 + 2 / math.log(2)


class TrainedNetworks(NamedTuple):
    """At the end of training: the sum of squared weights, and which print all bits right."""

    norm: Float[Tensor, "strings runs"]
    printed: Bool[Tensor, "strings runs"]


def unit_logits(
    weights: Float[Tensor, "nets units units"], bias: Float[Tensor, "nets units"], n_bits: int
) -> Float[Tensor, "nets bits"]:
    """What unit 0 is about to show at times 1 to `n_bits`; units are sigmoids and start at 0."""
    state = torch.zeros_like(bias)
    columns = []
    for _ in range(n_bits):
        field = torch.baddbmm(bias[..., None], weights, state[..., None])[..., 0]
        columns.append(field[:, 0])
        state = field.sigmoid()
    return torch.stack(columns, dim=1)


@resumable
def train_looped(
    strings: Sequence[int],
    *,
    n_bits: int,
    units: int,
    runs: int,
    steps: int,
    learning_rate: float,
    decay: float,
    seed: int,
) -> TrainedNetworks:
    """Adam on mean cross-entropy plus `decay` times the sum of squared weights, all nets at once.

    A string is a number whose highest bit is printed first. Weights start as N(0, 1).
    """
    stream = torch.Generator().manual_seed(seed)
    nets = len(strings) * runs
    weights = torch.randn(nets, units, units, generator=stream).requires_grad_()
    bias = torch.randn(nets, units, generator=stream).requires_grad_()
    wanted = bits_of(strings, n_bits).repeat_interleave(runs, dim=0)
    optimiser = torch.optim.Adam((weights, bias), lr=learning_rate)
    for step in loop.steps(steps, "strings", weights=weights, bias=bias, optimiser=optimiser):
        optimiser.zero_grad()
        shown = unit_logits(weights, bias, n_bits)
        fit = torch.nn.functional.binary_cross_entropy_with_logits(shown, wanted, reduction="none")
        loss = fit.mean(dim=1).sum() + decay * (weights.square().sum() + bias.square().sum())
        loss.backward()
        optimiser.step()
        loop.check_finite(loss.item(), "strings", step)
    with torch.no_grad():
        right = ((unit_logits(weights, bias, n_bits) > 0) == (wanted == 1)).all(dim=1)
        norm = weights.square().sum(dim=(1, 2)) + bias.square().sum(dim=1)
    return TrainedNetworks(norm.view(-1, runs), right.view(-1, runs))


def bits_of(strings: Sequence[int], n_bits: int) -> Float[Tensor, "strings bits"]:
    """The bits of each string, the highest first."""
    numbers: Int[Tensor, " strings"] = torch.tensor(strings)
    return (numbers[:, None] >> torch.arange(n_bits - 1, -1, -1) & 1).float()


Command = Literal["del", "add0", "add1", "say0", "say1"]
COMMANDS: tuple[Command, ...] = get_args(Command)
PERIOD = 3  # steps a command
TAPES = ("data", "end", "zero", "fill", "set", "back", "on", "off")


def tag_machine(once: Sequence[Command], loop: Sequence[Command]) -> LoopedNetwork:
    """A network that runs `once`, then `loop` for ever: one weight per command and 51 more.

    Raises ValueError if there is no loop.

    The front of the queue is place 0 of the tape: deleting moves all data one place down.
    """
    if not loop:
        raise ValueError("a program needs a loop")
    wiring = Wiring(TAPES)
    wiring.wire("begun", "one")
    wiring.wire("start", "one")  # on at time 1 and never again
    wiring.wire("start", "begun", -1)
    end: End = "start"
    for k, command in enumerate([*once, *loop]):
        wiring.wire((command, k), end)
        end = ("wait", k)
    wiring.wire((loop[0], len(once)), end)
    for command in COMMANDS:
        wiring.share("wait1", command)
    wiring.share("wait", "wait1")
    _add_signals(wiring)
    _add_data(wiring)
    _add_end(wiring)
    return wiring.build()


def _add_signals(wiring: Wiring) -> None:
    """What the pulse in the program says, a step later; all but `delete` if the front is 1."""
    wiring.share("delete", "del", "pool")
    for signal, commands in (
        ("append", ("add0", "add1")),
        ("append1", ("add1",)),
        ("gate", ("say0", "say1")),
    ):
        for command in commands:
            wiring.share(signal, command, "pool")
        wiring.wire(signal, "data")
        wiring.wire(signal, "one", -1)
    wiring.share("out", "say1", "pool")


def _add_data(wiring: Wiring) -> None:
    """A bit a place. It stays, takes its right neighbour's value, or is set beyond the end."""
    wiring.wire("data", "start")
    wiring.share("data", "data")
    wiring.share("data", "fill")
    wiring.share("data", "zero", sign=-1)
    wiring.share("data", "set")
    add_and(wiring, "fill", "data", "right", "delete")
    wiring.share("zero", "delete", "broadcast")
    wiring.share("zero", "data", "right", -1)
    add_and(wiring, "set", "end", "left", "append1")


def _add_end(wiring: Wiring) -> None:
    """A mark at the last place of the queue."""
    wiring.wire("end", "start")
    wiring.share("end", "end")
    wiring.share("end", "back")
    wiring.share("end", "on")
    wiring.share("end", "off", sign=-1)
    add_and(wiring, "back", "end", "right", "delete")
    add_and(wiring, "on", "end", "left", "append")
    add_and(wiring, "off", "end", "each", "delete")
    wiring.share("off", "append", "broadcast")
