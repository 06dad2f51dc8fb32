"""A universal machine of constant weight: a cyclic tag system that prints, on a shared tape.

The data are a queue of bits, at first a single 1. A program is a list of commands, some run once
and the rest for ever. All but one read the front of the queue and do nothing if it is 0.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from .model import End, LoopedNetwork, Wiring, add_and

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
