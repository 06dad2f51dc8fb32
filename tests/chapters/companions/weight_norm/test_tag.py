"""The tag machine against a tag system in words."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.companions.weight_norm import prior
from chapters.companions.weight_norm.model import printed_string

commands = st.lists(st.sampled_from(prior.COMMANDS), max_size=6)


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
    network = prior.tag_machine(once, loop)
    assert network.weight_count == len(once) + len(loop) + 51
    result = "".join(map(str, printed_string(network, prior.PERIOD * 25).tolist()))
    assert result == spoken(once, loop, 25)
