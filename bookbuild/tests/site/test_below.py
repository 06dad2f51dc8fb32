"""Verdicts below the statements of a page."""

import pytest

from bookbuild.site.staged.below import add_below

BELOW = {"theorem-1": "<p>one</p>\n", "lemma-2": "<p>two</p>\n"}
THEOREM = "```{prf:theorem} Ours\n:label: theorem-1\n\nIt holds.\n\n$$x$$\n```"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Before.\n\n{THEOREM}\n\nAfter.", f"Before.\n\n{THEOREM}\n\n<p>one</p>\n\nAfter."),
        (f"(lemma-2)=\n{THEOREM}", f"(lemma-2)=\n{THEOREM}\n\n<p>two</p>\n\n<p>one</p>"),
        ("(lemma-2)=\nOne.\nTwo.\n\nThree.", "(lemma-2)=\nOne.\nTwo.\n\n<p>two</p>\n\nThree."),
        (
            "(theorem-1)=\n(lemma-2)=\n1. One.\n2. Two.",
            "(theorem-1)=\n(lemma-2)=\n1. One.\n2. Two.\n\n<p>one</p>\n\n<p>two</p>",
        ),
        ("(other-3)=\nNo claim.\n", None),
        ("See [](#theorem-1).", None),
        (
            f"````{{admonition}} Both\n{THEOREM}\n````\n\nAfter.",
            f"````{{admonition}} Both\n{THEOREM}\n````\n\n<p>one</p>\n\nAfter.",
        ),
    ],
)
def test_verdicts_follow_the_whole_statement(text: str, told: str | None) -> None:
    assert add_below(text, BELOW) == (text if told is None else told)
