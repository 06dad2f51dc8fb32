"""Records that were carried over edits: current where every link of the chain is there."""

import itertools
from typing import Any

import pytest

from bookbuild.ledger.carried import IN_PLACE, Carried, carried_on, edits_carried, is_current

MEASURED: dict[str, Any] = {"fingerprint": "a"}
COMMIT = "0123456789ab"


def chain(*fingerprints: str, witness: Any = "smoke") -> dict[str, Any]:
    """Return a record measured at the first fingerprint and carried on through the others."""
    record = {"fingerprint": fingerprints[0]}
    for before, after in itertools.pairwise(fingerprints):
        record = carried_on(record, before, after, COMMIT, witness, 787)
    return record


def test_a_record_is_current_at_what_was_measured_and_at_the_last_edit() -> None:
    record = chain("a", "b", "c")
    assert [is_current(record, of) for of in ("a", "b", "c", "d", None)] == [
        True, False, True, False, False,
    ]  # fmt: skip
    assert is_current(MEASURED, "a")
    assert not is_current(MEASURED, "b")


def test_a_record_with_a_missing_link_is_not_current() -> None:
    record = chain("a", "b", "c", "d")
    del record["carried"][1]
    assert not is_current(record, "d")
    assert not is_current({"fingerprint": "z", "carried": record["carried"]}, "d")


def test_the_edits_are_counted_and_their_witnesses_named() -> None:
    record = carried_on(chain("a", "b"), "b", "c", COMMIT, "paper", 12)
    assert edits_carried(record, "c") == Carried(2, ("smoke", "paper"))
    assert edits_carried(record, "a") == edits_carried(record, "d") == IN_PLACE
    told = "carried over 2 edits that changed no bit of the smoke or paper book"
    assert str(edits_carried(record, "c")) == told


def test_an_edit_is_written_down_with_its_witness() -> None:
    carry = {"from": "a", "to": "b", "commit": COMMIT, "witness": "smoke", "equal": 787}
    assert chain("a", "b") == {"fingerprint": "a", "carried": [carry]}
    assert MEASURED == {"fingerprint": "a"}


def test_after_an_edit_was_taken_back_the_chain_begins_anew() -> None:
    record = carried_on(chain("a", "b"), "a", "c", COMMIT, "smoke", 787)
    assert edits_carried(record, "c") == Carried(1, ("smoke",))


@pytest.mark.parametrize(
    ("before", "equal", "reason"), [("z", 787, "not about z"), ("a", 0, "no measure was compared")]
)
def test_what_was_not_shown_is_not_carried(before: str, equal: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        carried_on(chain("a", "b"), before, "c", COMMIT, "smoke", equal)
