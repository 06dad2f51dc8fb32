"""Conclusions and badges in pages without code are those of the verdict that the build found."""

from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.site.staged.quoted import ABSENT, SURPRISE, TOY, leave_out_infinite, quote_verdicts

PAGE = """Before.

```{concluded} a b
reproduced: Both hold.
partly: One of them holds.
```

After, {verdict}`b`.
"""


def findings(a: Any, b: Any) -> dict[str, Finding]:
    return {
        name: Finding(Claim(name, "§1", f"It is {name}.", "paper", "paper/x"), None, verdict)
        for name, verdict in (("a", a), ("b", b))
    }


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (("reproduced", "reproduced"), "Both hold."),
        (("reproduced", "contradicted"), "One of them holds."),
        (("contradicted", "contradicted"), f"{SURPRISE}It is a. It is b."),
        (("reproduced", "not judged"), TOY),
    ],
)
def test_the_verdict_chooses_the_sentence(verdicts: tuple[str, str], told: str) -> None:
    text = quote_verdicts(PAGE, "story.md", findings(*verdicts), up="../")
    assert f"Before.\n\n{told} <a" in text
    first, second = (verdict.replace(" ", "-") for verdict in verdicts)
    assert f'<a class="verdict {first}" href="../verdicts.html#claim-a">' in text
    assert f'After, <a class="verdict {second}" href="../verdicts.html#claim-b">' in text
    assert "{" not in text


def test_an_unknown_row_is_named() -> None:
    with pytest.raises(
        BookError, match=r"story\.md quotes the claim 'a', which is not in the ledger"
    ):
        quote_verdicts(PAGE, "story.md", {})


def test_a_build_of_one_part_says_that_the_rest_is_elsewhere() -> None:
    text = quote_verdicts(PAGE, "story.md", {}, whole=False)
    assert text.count(ABSENT) == 1
    assert "{" not in text


def test_an_infinite_number_is_left_out() -> None:
    measures = {
        "speed": {"value": {"a": 0.8, "b": float("inf")}, "over": "settings"},
        "lead": {"value": 2.0, "over": None},
    }
    text = "At most {glue:text}`speed_max:.0%`, at least {glue:text}`speed_min:.0%`."
    assert leave_out_infinite(text, measures) == ("At most …, at least {glue:text}`speed_min:.0%`.")
