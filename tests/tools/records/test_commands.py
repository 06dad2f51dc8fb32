"""Bad input to the commands of the records ends in one sentence."""

from collections.abc import Callable

import pytest

from tools.toy_book import Toy


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["timings", "--minutes", "0"], "MINUTES must be a whole number of at least 1"),
        (["cold-build", "--part", "prose"], "PART must be one of"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    unbuilt: Toy, command: Callable[..., str], arguments: list[str], reason: str
) -> None:
    message = command(unbuilt.root, *arguments)
    assert reason in message
    assert "\n" not in message
