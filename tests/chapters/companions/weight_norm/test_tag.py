"""The tag machine against a tag system in words, and the shortest programs against brute force."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.companions.weight_norm import prior, tag
from chapters.companions.weight_norm.model import printed

commands = st.lists(st.sampled_from(tag.COMMANDS), max_size=6)


def spoken(once, loop, n_commands):
    """What a program prints, with the queue as text."""
    queue, said, at, program = "1", "", 0, [*once, *loop]
    for _ in range(n_commands):
        match program[at], queue[:1]:
            case "del", _:
                queue = queue[1:]
            case "add0" | "add1" as add, "1":
                queue += add[3]
            case "say0" | "say1" as say, "1":
                said += say[3]
        at = at + 1 if at + 1 < len(program) else len(once)
    return said


@settings(max_examples=40, deadline=None)
@given(commands, commands.filter(bool))
def test_the_network_is_the_machine(once, loop):
    network = tag.machine(once, loop)
    assert network.weight_count == len(once) + len(loop) + 51
    found = "".join(map(str, printed(network, tag.PERIOD * 25).tolist()))
    assert found == spoken(once, loop, 25)
    assert tag.directly(once, loop, 25) == [int(bit) for bit in found]


def test_a_cyclic_tag_system_runs_on_it():
    # appendants 11, none, 0 from the word 1; the first says 1 when it is used, the third 0
    loop = ["add1", "add1", "say1", "del", "del", "add0", "say0", "del"]
    queue, said = [1], []
    for used in range(30):
        front, *queue = queue
        if front:
            queue += [[1, 1], [], [0]][used % 3]
            said += [[1], [], [0]][used % 3]
        if not queue:
            break
    found = printed(tag.machine([], loop), 3 * 8 * 30).tolist()
    assert said
    assert found[: len(said)] == said


def test_a_program_needs_a_loop():
    with pytest.raises(ValueError, match="loop"):
        tag.machine(["say1"], [])


def test_shortest_programs_are_those_of_brute_force():
    n_bits, patience = 4, 30
    least = [prior.NEVER] * 2**n_bits
    for total in (3, 2, 1):
        for once in range(total):
            for program in product(tag.COMMANDS, repeat=total):
                said = spoken(program[:once], program[once:], patience)[:n_bits]
                if len(said) == n_bits:
                    least[int(said, 2)] = total
    assert prior.shortest(3, n_bits, patience).commands.tolist() == least


def test_undecided_programs_may_still_speak():
    # with little time some are undecided; with more, none of those that were decided has spoken
    short, long = (prior.shortest(4, 6, patience) for patience in (12, 120))
    assert short.undecided > long.undecided
    changed = (short.commands != long.commands).sum()
    assert changed <= short.undecided
