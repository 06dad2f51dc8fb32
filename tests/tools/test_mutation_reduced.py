"""Reduced sizes of the drill: they fit their sources, and give way to the paper's alone."""

import pytest

from bookbuild.ledger.claims import Claim
from bookbuild.ledger.expectations import Expectation
from tools.mutation import record
from tools.mutation.catalogue import FAULTS
from tools.mutation.fault import ROOT, in_chapter, planted
from tools.mutation.reduced import PROFILE, REDUCED
from tools.mutation.trial import Settings, Trial, key
from tools.mutation.verdicts import summary, weaker

CLAIM = Claim("row", "", "", "paper", "a/b", "key", Expectation("at_most", high=1.0))
SLIP = in_chapter("a/b", "slip", "wrong", "x", "y")
SOUND, FAULTY = (
    Trial("a/b", "none", "none", {"key": {"value": value, "over": None, "judged": True}})
    for value in (0.0, 2.0)
)


@pytest.mark.parametrize("chapter", REDUCED)
def test_sizes_are_planted_beside_every_fault_of_a_chapter(chapter):
    changes = REDUCED[chapter].changes
    files = {change.file for change in changes}
    for fault in [None, *(fault for fault in FAULTS if chapter in fault.chapters)]:
        with planted(fault, ROOT, changes) as folder:
            for change in changes:
                assert change.new in (folder / change.file).read_text(encoding="utf-8")
            if fault is not None:
                assert fault.new in (folder / fault.file).read_text(encoding="utf-8")
                files.add(fault.file)
            assert files >= {
                str(path.relative_to(folder))
                for path in (folder / "src").rglob("*.py")
                if path.read_bytes() != (ROOT / path.relative_to(folder)).read_bytes()
            }


def test_a_reduced_trial_has_a_key_of_its_own():
    chapter = next(iter(REDUCED))
    keys = set()
    for profile in ("paper", PROFILE):
        sizes = REDUCED[chapter].changes if profile == PROFILE else ()
        with planted(None, ROOT, sizes) as folder:
            keys.add(key(chapter, folder, Settings(profile)))
    assert len(keys) == 2


def joined(*tried):
    """What the record has after trials, each of a profile, in which the fault turns the row or not.

    The sound trial of all is the same.
    """
    known = {"fingerprint": "1", "seconds": 0.0, "faults": {}, "rows": {}}
    for profile, trial in tried:
        known = record.joined(known, summary([CLAIM], SOUND, {SLIP: trial}), profile)
    return known["faults"]["slip"]["profile"], "turned" in known["rows"]["row"]


@pytest.mark.parametrize(
    ("first", "then", "stays"),
    [
        ("smoke", PROFILE, PROFILE),
        (PROFILE, "smoke", PROFILE),
        (PROFILE, "paper", "paper"),
        ("paper", PROFILE, "paper"),
    ],
)
def test_smaller_sizes_give_way_to_larger_ones(first, then, stays):
    assert joined((first, SOUND), (then, FAULTY)) == (stays, stays == then)


def test_the_verdict_of_a_row_is_that_of_the_largest_sizes():
    known = {"fingerprint": "1", "seconds": 0.0, "faults": {}, "rows": {}}
    known = record.joined(known, summary([CLAIM], SOUND, {SLIP: FAULTY}), "paper")
    other = in_chapter("a/b", "other", "wrong", "x", "y")
    known = record.joined(known, summary([CLAIM], FAULTY, {other: FAULTY}), PROFILE)
    assert known["rows"]["row"]["verdict"] == "reproduced"


def test_a_row_that_is_worse_at_reduced_sizes_is_named():
    sound, worse = (summary([CLAIM], trial, {SLIP: FAULTY}) for trial in (SOUND, FAULTY))
    none = {"faults": {}, "rows": {}}
    at_paper, at_reduced = (record.joined(none, worse, profile) for profile in ("paper", PROFILE))
    assert list(weaker(record.joined(none, sound, "paper"), worse)) == ["row"]
    assert list(weaker(record.joined(none, sound, "paper"), sound)) == []
    assert list(weaker(at_paper, worse)) == []
    assert list(weaker(at_reduced, worse)) == ["row"]  # it cannot vouch for itself
    assert list(weaker(none, worse)) == ["row"]


def test_the_record_says_what_the_reduced_sizes_are(tmp_path):
    file = tmp_path / "mutation.json"
    found = summary([CLAIM], SOUND, {SLIP: FAULTY})
    for profile, told in ((PROFILE, {"a/b": "D = 8."}), ("paper", {})):
        record.write("a/b", record.joined(record.known("a/b", "1", file), found, profile), file)
        record.settle([CLAIM], {}, file, reduced={"a/b": "D = 8."})
        assert record.read(file)["reduced"] == told
