"""What the record of evidence says of a row: it lowers a verdict where it lacks or differs."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.measures import Measure
from evidence.outcomes import Numbers, Outcome, Profile, Record, replaced
from evidence.rows import RANK, Standing, lowered, standing_of

CHAPTER = "paper/01_line"
DECLARED: dict[str, Any] = {
    "seeds": [100, 200],
    "roundings": {"plain": {}, "threads": {}},
    "faults": [
        {"fault": "slip", "says": "A factor is forgotten."},
        {"fault": "loss", "says": "The loss is wrong.", "kind": "loss", "keeps": ["position"]},
        {"fault": "turn", "says": "All is turned.", "kind": "network", "symmetry": True},
    ],
    "kept": {"position": {"rows": ["a-row"], "why": "It is about positions.\n"}},
}
TODAY, SAME, EARLIER = "today", "same", "earlier"
NUMBERS = Numbers(CHAPTER, (SAME, TODAY), "", {"slope": 2.0}, {}, "")
KINDS = ("seed", "rounding", "device", "setting", "sizes")


def row(value: Any = 2.0, over: Any = None, name: str = "a-row") -> Finding:
    expectation, measured = read_expectation({"at_least": 1}), Measure(value, over)
    claim = Claim(name, "§1", "A.", "paper", CHAPTER, "slope", expectation, "Because.")
    return Finding(claim, measured, expectation.verdict(measured))


def line(
    name: str, value: Any = 2.0, code: str = TODAY, profile: Profile = "paper", **fates: Any
) -> Outcome:
    kind: Any = name.partition(" ")[0]
    kind = kind if kind in KINDS else "fault"
    values = {} if value is None or fates else {"slope": value}
    made = (code, "", f"commit-{code}", None, 1.0)
    return Outcome(CHAPTER, name, kind, profile, *made, values, fates)


def known(
    *lines: Outcome | Numbers, of: Finding | None = None, declared: Any = DECLARED
) -> Standing:
    record = replaced(Record(), [NUMBERS, *lines])
    result = standing_of(of or row(), record, declared, TODAY)
    assert result is not None
    return result


def judged(*lines: Outcome | Numbers, required: bool = True, **told: Any) -> Finding:
    finding = row(**told)
    (after,) = lowered([finding], {"a-row": known(*lines, of=finding)}, required=required)
    return after


REPEATED = (line("seed 100"), line("seed 200"), line("rounding threads"))


def test_a_row_that_was_repeated_everywhere_keeps_its_verdict() -> None:
    assert judged(*REPEATED) == row()
    assert known(*REPEATED).alertness == "green"


def test_a_second_rounding_of_earlier_code_lowers_nothing_unless_it_flips() -> None:
    assert judged(*REPEATED, line("rounding plain", code=EARLIER)) == row()
    assert judged(*REPEATED, line("rounding plain", 0.0, EARLIER)).verdict == "partly"
    only = (*REPEATED[:2], line("rounding plain", code=EARLIER))
    assert (known(*only).rounding.state, judged(*only).unconfirmed) == ("earlier", True)


@pytest.mark.parametrize("lacking", range(3))
def test_one_that_lacks_seeds_or_rounding_is_partly_and_unconfirmed(lacking: int) -> None:
    some = [one for place, one in enumerate(REPEATED) if place != lacking]
    output = judged(*some)
    assert (output.verdict, output.unconfirmed) == ("partly", True)
    assert judged(*some, value=0.5).verdict == "contradicted"
    assert judged(*some, required=False) == row()


@pytest.mark.parametrize(
    ("first", "second", "state", "since"),
    [
        ({}, {"code": SAME}, "steady", ""),
        ({}, {"code": EARLIER}, "earlier", "commit-earlier"),
        ({}, {"value": 0.5, "code": EARLIER}, "flips", "commit-earlier"),
        ({"value": 0.5}, {"value": None}, "flips", ""),
        ({}, {"value": [2.0, True]}, "missing", ""),
        ({}, {"value": None}, "missing", ""),
        ({"value": "inf"}, {}, "steady", ""),
    ],
)
def test_what_reruns_say_together(first: Any, second: Any, state: str, since: str) -> None:
    lines = (line("seed 100", **first), line("seed 200", **second), line("rounding plain"))
    result = known(*lines)
    assert (result.seeds.state, result.seeds.since, result.flips) == (
        state,
        since,
        state == "flips",
    )
    assert judged(*lines).verdict == ("reproduced" if state == "steady" else "partly")


@pytest.mark.parametrize("name", ["seed 100", "rounding plain", "device cuda", "setting no bias"])
def test_any_variation_that_flips_lowers_a_verdict_and_raises_none(name: str) -> None:
    output = judged(*REPEATED, line(name, 0.5))
    assert (output.verdict, output.unconfirmed) == ("partly", False)
    assert judged(*REPEATED, line(name, 2.0), value=0.5).verdict == "contradicted"


@given(
    st.dictionaries(
        st.sampled_from(["seed 100", "seed 200", "rounding plain"]),
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
    record = {name: line(name, *output) for name, output in lines.items()}
    before = judged(*record.values())
    del record[data.draw(st.sampled_from(sorted(record)))]
    after = judged(*record.values())
    assert RANK[after.verdict] >= RANK[before.verdict]
    assert after.verdict == "partly"  # whatever is asked for and not there lowers it


REDUCED, BELOW = (
    replace(line("sizes", value, profile="reduced"), variation="reduced sizes")
    for value in (2.0, 0.5)
)
POSITIONS, SYMMETRY = "It is about positions.", "An exact symmetry changes no law."


@pytest.mark.parametrize(
    ("of", "fault", "sight", "why"),
    [
        (row(), line("slip", 0.5), "turned", ""),
        (row(), line("slip", 3.0), "same", ""),
        (row(0.5), line("slip", 2.0), "improved", ""),
        (row(), line("slip", None), "stops", ""),
        (row([2.0, 2.0, 0.5], "seeds"), line("slip", [2.0, 0.5, 0.5]), "turned", ""),
        (row([2.0, 2.0, 0.5], "seeds"), line("slip", [2.0] * 3), "same", ""),
        (row({"a": 2.0, "b": 0.5}, "settings"), line("slip", {"a": 0.5, "b": 0.5}), "turned", ""),
        # where values were not kept, fates are
        (row(), line("slip", turned=("a-row",), same=()), "turned", ""),
        (row(), line("slip", stops=("a-row",), turned=()), "stops", ""),
        (row(), line("slip", same=("a-row",)), "same", ""),
        # a fault at other sizes is held against those
        (row(), line("slip", 0.5, profile="smoke"), "turned", ""),
        (row(), line("slip", 0.5, profile="reduced"), "turned", ""),
        # some faults leave a statement true; at toy sizes a verdict turns by noise alone
        (row(), line("loss", 2.0), "true", POSITIONS),
        (row(), line("loss", 0.5), "broken", POSITIONS),
        (row(), line("loss", 0.5, profile="smoke"), "true", POSITIONS),
        (row(), line("turn", 0.5), "broken", SYMMETRY),
        (row(name="b-row"), line("loss", 0.5), "turned", ""),
    ],
)
def test_what_a_fault_makes_of_a_row(of: Finding, fault: Outcome, sight: str, why: str) -> None:
    result = known(REDUCED, fault, of=of)
    (seen,) = result.faults[1:]  # after the toy sizes, which every chapter has
    assert (seen.sight, seen.why, seen.profile) == (sight, why, fault.profile)
    assert (result.alertness == "turned") == (sight == "turned")
    assert known(BELOW, line("slip", 0.5, profile="reduced")).faults[1].sight == "same"


def test_the_sharpest_fault_is_of_today_and_of_the_sizes_of_the_paper() -> None:
    result = known(line("slip", 0.5, code=EARLIER), line("loss", None, profile="smoke"))
    assert (result.alertness, result.sharpest.says) == ("turned", "A factor is forgotten.")
    assert not result.sharpest.current
    assert known(line("lost", 0.5)).faults == known().faults  # what is no longer declared


def test_a_row_without_a_fault_that_turns_it_says_why() -> None:
    assert known().alertness == "green"
    assert known(of=row(0.5)).alertness == "contradicted"
    none = standing_of(row(), Record(), DECLARED, TODAY)
    assert none is not None
    assert none.alertness == "untried"
    claim = Claim("a-row", "§1", "A.", "paper", CHAPTER, not_testable="No.")
    unjudged = Finding(row().claim, row().measured, "not judged")
    for finding in (Finding(claim, None, "not testable here"), unjudged):
        assert standing_of(finding, Record(), DECLARED, TODAY) is None
