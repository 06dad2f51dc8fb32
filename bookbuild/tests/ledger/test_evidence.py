"""What the record of evidence says of a row: it lowers a verdict where it lacks or differs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.evidence import Evidence, evidence_of, lowered
from bookbuild.ledger.outcomes import Kind, Numbers, Outcome, Profile, Record, replaced
from bookbuild.ledger.planted import RANK, Declared, Seen
from bookbuild.ledger.records import Known
from bookbuild.reporting.expectations import Measured, read_expectation

CHAPTER = "paper/01_line"
DOCUMENT: dict[str, Any] = {
    "seeds": [100, 200],
    "roundings": {"plain": {}, "threads": {}},
    "faults": [
        {"fault": "slip", "says": "A factor is forgotten."},
        {"fault": "loss", "says": "The loss is wrong.", "kind": "loss", "keeps": ["position"]},
        {"fault": "turn", "says": "All is turned.", "kind": "network", "symmetry": True},
    ],
    "kept": {"position": {"rows": ["a-row"], "why": "It is about positions.\n"}},
}
DECLARED = Declared.of(DOCUMENT)
TODAY, SAME, EARLIER = "today", "same", "earlier"
SEEDS = ("seed 100", "seed 200")
NUMBERS = Numbers(CHAPTER, (SAME, TODAY), "", {"slope": 2.0}, "", "")


def row(value: Any = 2.0, over: Any = None, expect: Any = None) -> Finding:
    expectation, measured = read_expectation(expect or {"at_least": 1}), Measured(value, over)
    claim = Claim("a-row", "§1", "A.", "paper", CHAPTER, "slope", expectation, "Because.")
    return Finding(claim, measured, expectation.verdict(measured))


def line(
    name: str, value: Any = 2.0, code: str = TODAY, profile: Profile = "paper", **fates: Any
) -> Outcome:
    kind: Any = name.partition(" ")[0]
    kinds: Kind = kind if kind in ("seed", "rounding", "device", "setting", "sizes") else "fault"
    values = {} if value is None or fates else {"slope": value}
    return Outcome(CHAPTER, name, kinds, profile, code, "", f"commit-{code}", None, 1.0,
                   values, fates)  # fmt: skip


def known(
    *lines: Outcome | Numbers, of: Finding | None = None, declared: Declared = DECLARED
) -> Evidence:
    record = replaced(Record(), [NUMBERS, *lines])
    found = evidence_of(of or row(), record, declared, TODAY)
    assert found is not None
    return found


def judged(*lines: Outcome | Numbers, required: bool = True, **told: Any) -> Finding:
    finding = row(**told)
    (after,) = lowered([finding], {"a-row": known(*lines, of=finding)}, required=required)
    return after


REPEATED = (*map(line, SEEDS), line("rounding threads"))


def test_a_row_that_was_repeated_everywhere_keeps_its_verdict() -> None:
    assert judged(*REPEATED) == row()
    words = Known(None, known(*REPEATED), None).words
    assert list(words.values()) == ["", "steady", "steady", "green"]


@pytest.mark.parametrize("lacking", range(3))
def test_one_that_lacks_seeds_or_rounding_is_partly_and_unconfirmed(lacking: int) -> None:
    some = [one for place, one in enumerate(REPEATED) if place != lacking]
    told = judged(*some)
    assert (told.verdict, told.unconfirmed) == ("partly", True)
    assert judged(*some, value=0.5).verdict == "contradicted"
    assert judged(*some, required=False) == row()


@pytest.mark.parametrize(
    ("reruns", "state", "since"),
    [
        ([line("seed 100"), line("seed 200", code=SAME)], "steady", ""),
        ([line("seed 100"), line("seed 200", code=EARLIER)], "earlier", "commit-earlier"),
        ([line("seed 100"), line("seed 200", 0.5, code=EARLIER)], "flips", "commit-earlier"),
        ([line("seed 100", 0.5)], "flips", ""),
        ([line("seed 100"), line("seed 200", [2.0, True])], "missing", ""),
        ([line("seed 100"), line("seed 200", None)], "missing", ""),
        ([line("seed 100", "inf"), line("seed 200")], "steady", ""),
    ],
)
def test_what_reruns_say_together(reruns: list[Outcome], state: str, since: str) -> None:
    found = known(*reruns, line("rounding plain"))
    assert (found.seeds.state, found.seeds.since) == (state, since)
    assert found.flips == (state == "flips")
    assert judged(*reruns, line("rounding plain")).verdict == (
        "reproduced" if state == "steady" else "partly"
    )


@pytest.mark.parametrize("name", ["seed 100", "rounding plain", "device cuda", "setting no bias"])
def test_any_variation_that_flips_lowers_a_verdict_and_raises_none(name: str) -> None:
    told = judged(*REPEATED, line(name, 0.5))
    assert (told.verdict, told.unconfirmed) == ("partly", False)
    assert judged(*REPEATED, line(name, 2.0), value=0.5).verdict == "contradicted"


@given(
    st.dictionaries(
        st.sampled_from([*SEEDS, "rounding plain"]),
        st.tuples(
            st.sampled_from([2.0, 0.5, [2.0, 0.5], [True], None]),
            st.sampled_from([TODAY, SAME, EARLIER]),
        ),
        min_size=1,
    ),
    st.data(),
)
def test_a_line_that_is_deleted_raises_no_verdict(
    lines: dict[str, tuple[Any, str]], data: st.DataObject
) -> None:
    record = {name: line(name, *told) for name, told in lines.items()}
    before = judged(*record.values())
    del record[data.draw(st.sampled_from(sorted(record)))]
    after = judged(*record.values())
    assert RANK[after.verdict] >= RANK[before.verdict]
    assert after.verdict == "partly"  # whatever is asked for and not there lowers it


def seen(found: Evidence) -> list[Seen]:
    """The planted faults without the toy sizes, which every chapter has."""
    return list(found.faults[1:])


@pytest.mark.parametrize(
    ("own", "over", "faulty", "sight"),
    [
        (2.0, None, 0.5, "kills"),
        (2.0, None, 3.0, "green"),
        (0.5, None, 2.0, "better"),
        (2.0, None, None, "stops"),
        ([2.0, 2.0, 0.5], "seeds", [2.0, 0.5, 0.5], "kills"),
        ([2.0, 2.0, 0.5], "seeds", [2.0, 2.0, 2.0], "green"),
        ({"a": 2.0, "b": 0.5}, "settings", {"a": 0.5, "b": 0.5}, "kills"),
    ],
)
def test_what_a_fault_makes_of_a_row(own: Any, over: Any, faulty: Any, sight: str) -> None:
    (fault,) = seen(known(line("slip", faulty), of=row(own, over)))
    assert (fault.says, fault.kind, fault.sight) == ("A factor is forgotten.", "code", sight)


@pytest.mark.parametrize(
    ("fate", "sight"), [("turned", "kills"), ("stops", "stops"), ("same", "green")]
)
def test_fates_are_told_where_values_were_not_kept(fate: str, sight: str) -> None:
    found = known(line("slip", code=EARLIER, **{fate: ("a-row",), "none": ()}))
    assert [(one.sight, one.current) for one in seen(found)] == [(sight, False)]


@pytest.mark.parametrize(
    ("profile", "base", "sight"),
    [
        ("smoke", NUMBERS, "kills"),
        ("reduced", Outcome(CHAPTER, "reduced sizes", "sizes", "reduced", TODAY, "", "", None, 1.0,
                            {"slope": 2.0}), "kills"),
        ("reduced", Outcome(CHAPTER, "reduced sizes", "sizes", "reduced", TODAY, "", "", None, 1.0,
                            {"slope": 0.5}), "green"),
    ],
)  # fmt: skip
def test_a_fault_at_other_sizes_is_held_against_those(
    profile: Profile, base: Outcome | Numbers, sight: str
) -> None:
    assert seen(known(base, line("slip", 0.5, profile=profile)))[0].sight == sight


@pytest.mark.parametrize(
    ("fault", "profile", "faulty", "sight", "why"),
    [
        ("loss", "paper", 2.0, "true", "It is about positions."),
        ("loss", "paper", 0.5, "broken", "It is about positions."),
        ("loss", "smoke", 0.5, "true", "It is about positions."),
        ("turn", "paper", 0.5, "broken", "An exact symmetry changes no law."),
    ],
)
def test_some_faults_leave_a_statement_true(
    fault: str, profile: Profile, faulty: Any, sight: str, why: str
) -> None:
    found = known(line(fault, faulty, profile=profile))
    assert [(one.sight, one.why) for one in seen(found)] == [(sight, why)]
    assert (found.alertness == "turned") == (sight == "kills")


def test_a_reason_may_hold_for_every_training_and_never_for_slips_of_code() -> None:
    every = Declared.of(DOCUMENT | {"kept": {"x": {"rows": ["a-row"], "every": True, "why": "."}}})
    kept = {name: every.kept(fault, "a-row") for name, fault in every.faults.items()}
    assert kept == {"slip": "", "loss": ".", "turn": "An exact symmetry changes no law."}
    assert every.kept(every.faults["loss"], "b-row") == ""


def test_the_sharpest_fault_is_of_today_and_of_the_sizes_of_the_paper() -> None:
    found = known(line("slip", 0.5, code=EARLIER), line("loss", None, profile="smoke"))
    assert (found.alertness, found.sharpest.says) == ("turned", "A factor is forgotten.")
    assert known(line("lost", 0.5)).faults == known().faults  # what is no longer declared


def test_a_row_without_a_fault_that_turns_it_says_why() -> None:
    assert known().alertness == "green"
    assert known(of=row(0.5)).alertness == "contradicted"
    none = evidence_of(row(), Record(), DECLARED, TODAY)
    assert none is not None
    assert none.alertness == "untried"
    claim = Claim("a-row", "§1", "A.", "paper", CHAPTER, not_testable="No.")
    for finding in (Finding(claim, None, "not testable here"),
                    Finding(row().claim, row().measured, "not judged")):  # fmt: skip
        assert evidence_of(finding, Record(), DECLARED, TODAY) is None
