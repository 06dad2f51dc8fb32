"""Records of a chapter that were carried over edits which changed no number."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Witness = Literal["smoke", "paper"]  # the profile that was computed before and after an edit


@dataclass(frozen=True)
class Carried:
    """How many edits a record was carried over to be current, and what shows that it may be."""

    edits: int = 0
    witnesses: tuple[str, ...] = ()

    def __str__(self) -> str:
        edits = f"{self.edits} edit{'s' * (self.edits > 1)}"
        return f"carried over {edits} that changed no bit of the {' or '.join(self.witnesses)} book"


IN_PLACE = Carried()


def is_current(chapter: Mapping[str, Any], fingerprint: str | None) -> bool:
    """Return whether a chapter's record is about a fingerprint: made of it, or carried on to it."""
    last = chapter["fingerprint"]
    for carry in chapter.get("carried", ()):
        if carry["from"] != last:
            return False  # a link is missing
        last = carry["to"]
    return fingerprint in (chapter["fingerprint"], last)


def edits_carried(chapter: Mapping[str, Any], fingerprint: str | None) -> Carried:
    """Return the edits that lead from what was measured to a fingerprint; none if nothing does."""
    if fingerprint == chapter["fingerprint"] or not is_current(chapter, fingerprint):
        return IN_PLACE
    carries = chapter["carried"]
    return Carried(len(carries), tuple(dict.fromkeys(carry["witness"] for carry in carries)))


def leads(carries: Iterable[Mapping[str, Any]], code: str | None, today: str) -> bool:
    """Return whether edits that changed no number lead from some code to today's."""
    following = {carry["from"]: carry["to"] for carry in carries}
    while code != today and code in following:
        code = following.pop(code)
    return code == today


def carried_on(
    chapter: Mapping[str, Any], before: str, after: str, commit: str, witness: Witness, equal: int
) -> dict[str, Any]:
    """Return a chapter's record with one more edit, before which it was current.

    Args:
        chapter: the record.
        before: the fingerprint that the edit left.
        after: the fingerprint that it made.
        commit: the commit that has the edit.
        witness: the profile in which everything was equal to the bit.
        equal: how many measures and arrays were compared.

    Raises:
        ValueError: if the record is not about the fingerprint before, or no measure was compared.
    """
    if not is_current(chapter, before):
        raise ValueError(
            f"the record is of fingerprint {chapter['fingerprint']}, and not about {before}"
        )
    if equal < 1:
        raise ValueError("no measure was compared")
    # a fingerprint that is measured again needs no edits to lead to it
    earlier = [] if before == chapter["fingerprint"] else chapter["carried"]
    return {**chapter, "carried": [*earlier, carry(before, after, commit, witness, equal)]}


def carry(before: str, after: str, commit: str, witness: Witness, equal: int) -> dict[str, Any]:
    """Return what is written down of an edit, with the arguments of `carried_on`."""
    return {"from": before, "to": after, "commit": commit, "witness": witness, "equal": equal}
