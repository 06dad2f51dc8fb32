"""Wrong trainings as rows see them: what lies within reach, and how many a row kills."""

from typing import Any

import pytest
from nbformat.v4 import new_notebook

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.expectations import Measured, read_expectation
from bookbuild.ledger.mutation import trial_of
from bookbuild.ledger.records import Records
from bookbuild.ledger.trainings.matrix import wrong_trainings
from bookbuild.ledger.trainings.reach import ENOUGH, contradicted, kills, sees_little, trained
from bookbuild.source.chapters import Chapter

CHAPTER = "paper/01_line"


def fault(kind: str = "loss", profile: str = "paper", **others: Any) -> dict[str, Any]:
    return {"says": f"a wrong {kind}", "kind": kind, "profile": profile, **others}


FAULTS = {
    "killed": fault("loss") | {"says": "the loss is wrong"},
    "survives": fault("task") | {"says": "the task is wrong"},
    "untouched": fault("task") | {"says": "another task"},
    "flatters": fault("network") | {"says": "the network is wrong"},
    "kept": fault("gradient") | {"says": "the gradient is wrong"},
    "stops": fault("loss") | {"says": "the loss is infinite"},
    "same": fault("network", symmetry=True) | {"says": "all is turned"},
    "tiny": fault("loss", "smoke") | {"says": "the small loss is wrong"},
    "tiny-kept": fault("loss", "smoke") | {"says": "the small loss is another"},
    "slip": {"says": "a factor is forgotten", "profile": "paper"},
    **{f"same-{i}": fault("network", symmetry=True) | {"says": f"turn {i}"} for i in range(ENOUGH)},
}
ROW: dict[str, Any] = {
    "verdict": "reproduced",
    "turned": ["killed", "slip", "tiny", "tiny-kept"],
    "improved": ["flatters"],
    "moved": ["survives", "kept", "same"],
    "not reached": ["stops"],
    "kept": {"kept": "isotropic", "tiny-kept": "isotropic"},
}


def test_reach_is_what_is_tried_less_what_is_kept_or_stops_the_chapter() -> None:
    seen = trained(FAULTS, ROW)
    assert {name: one.sight for name, one in seen.items()} == {
        "killed": "kills", "survives": "green", "untouched": "green", "flatters": "better",
        "kept": "true", "stops": "stops", "same": "true", "tiny": "kills", "tiny-kept": "true",
        **{f"same-{i}": "true" for i in range(ENOUGH)},
    }  # fmt: skip
    assert kills(seen.values()) == (1, 4)  # a row that gets better has killed nothing
    assert contradicted(FAULTS, ROW) == {}


@pytest.mark.parametrize(
    ("fault", "why"), [("kept", "isotropic"), ("same", "symmetry"), ("survives", "")]
)
def test_a_row_that_turns_although_it_stays_true_is_a_contradiction(fault: str, why: str) -> None:
    turned = ROW | {"turned": [*ROW["turned"], fault]}
    assert contradicted(FAULTS, turned) == ({fault: why} if why else {})
    assert kills(trained(FAULTS, turned).values()) == ((1, 4) if why else (2, 4))


@pytest.mark.parametrize(("killed", "of", "little"), [(3, 5, False), (2, 4, True), (0, 0, False)])
def test_three_in_five_are_enough_where_twenty_were_tried(
    killed: int, of: int, little: bool
) -> None:
    faults = {str(i): fault() for i in range(ENOUGH)}
    row = {"turned": list(faults)[:killed], "kept": dict.fromkeys(list(faults)[of:], "isotropic")}
    assert sees_little(trained(faults, row).values()) is little
    faults.popitem()
    assert not sees_little(trained(faults, row).values())


def planted(row: dict[str, Any] = ROW, verdict: Any = "reproduced") -> tuple[Finding, Records]:
    claim = Claim("a", "§1", "A.", "paper", CHAPTER, "slope", read_expectation({"at_least": 1}))
    finding = Finding(claim, Measured(2.0, None), verdict)
    chapter = {"fingerprint": "1", "faults": FAULTS, "rows": {"a": row}}
    record = {"chapters": {CHAPTER: chapter}, "argued": {}, "blind": {"a": "It asks for a sign."}}
    record |= {"kept": {"isotropic": "No direction is preferred."}}
    return finding, Records(trials={"a": trial_of(finding, record, {CHAPTER: "1"})})


def test_a_row_counts_its_kills_by_kind_and_size() -> None:
    trial = planted()[1].trials["a"]
    assert trial.kinds == {
        ("code", "paper"): (1, 1), ("loss", "paper"): (1, 1), ("loss", "smoke"): (1, 1),
        ("network", "paper"): (0, 1), ("task", "paper"): (0, 2),
    }  # fmt: skip
    assert (trial.kills, trial.still_true, trial.sees_little) == ((1, 4), 2, True)
    assert "the small loss is another" not in trial.turned


def test_a_row_is_not_alert_by_a_fault_that_leaves_it_true() -> None:
    trial = planted(ROW | {"turned": ["kept"]})[1].trials["a"]
    assert trial.alertness == "green"
    contradicted_row = planted(ROW | {"turned": []}, "contradicted")[1].trials["a"]
    assert not contradicted_row.sees_little


def test_the_page_has_a_matrix_and_names_rows_that_see_too_little() -> None:
    chapter = Chapter(CHAPTER, "Line", new_notebook(), ())
    finding, records = planted()
    text = wrong_trainings([finding], [chapter], records)
    assert "a</a> kills 1 of 4: It asks for a sign.</li>" in text
    assert f"{7 + ENOUGH} wrong trainings, 1 rows" in text
    assert text.count("<td") == 7 + ENOUGH
    assert "Network: all is turned (an exact symmetry)" in text
    assert "kills 1 of 4 (loss 1 of 1, task 0 of 2, network 0 of 1)" in text
    assert "Row 1: No direction is preferred." in text
    assert wrong_trainings([finding], [chapter], Records()) == ""


def test_the_page_says_at_which_sizes_faults_were_tried() -> None:
    finding, _ = planted()
    chapter = {
        "fingerprint": "1",
        "faults": {"killed": fault(profile="reduced"), "survives": fault("task")},
        "rows": {"a": {"verdict": "reproduced", "turned": ["killed"]}},
    }
    record = {"chapters": {CHAPTER: chapter}, "argued": {}, "reduced": {CHAPTER: "Half of all."}}
    trial = trial_of(finding, record, {CHAPTER: "1"})
    assert (trial.kills, trial.tiny) == ((1, 2), False)  # counts as at full size
    assert trial.told_kinds == ["loss at smaller sizes 1 of 1", "task 0 of 1"]
    records = Records(trials={"a": trial})
    line = [Chapter(CHAPTER, "Line", new_notebook(), ())]
    text = wrong_trainings([finding], line, records)
    assert "1 of the wrong trainings were tried at smaller sizes" in text
    assert "than at the sizes of the paper: Half of all.</p>" in text
    chapter["faults"]["survives"]["profile"] = "reduced"
    records = Records(trials={"a": trial_of(finding, record, {CHAPTER: "1"})})
    assert "All wrong trainings were tried" in wrong_trainings([finding], line, records)
