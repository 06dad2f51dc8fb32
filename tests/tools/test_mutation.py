"""The drill of planted faults: its catalogue fits the sources, and it tells what a fault does."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import sympy
import torch

from bookbuild.ledger.carried import carried_on, edits_carried
from bookbuild.ledger.claims import Claim
from bookbuild.ledger.expectations import Expectation
from chapters.beyond import full_flow
from emergence import plotting, theory
from emergence.training import MinimalTraining
from running import cache, sweep
from tools.mutation import record
from tools.mutation.catalogue import FAULTS
from tools.mutation.disturbance import DRAWS, Disturbance, alone, heard, wrap
from tools.mutation.fault import ROOT, Stale, in_chapter, planted
from tools.mutation.keeping import Reason, contradictions, kept_rows, read_reasons
from tools.mutation.trial import Executor, Settings, Trial, made, stored
from tools.mutation.verdicts import fate, green, summary, verdict
from tools.this_book import chapters

MINIMAL = "paper/03_minimal_formulation"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_fits_its_source(fault):
    fault.check()
    assert fault.old != fault.new


def test_faults_have_names_of_their_own_and_chapters_that_exist():
    assert Counter(fault.name for fault in FAULTS).most_common(1)[0][1] == 1
    known = {chapter.name for chapter in chapters()}
    assert {name for fault in FAULTS for name in fault.chapters} <= known
    assert all(fault.chapters for fault in FAULTS)


@pytest.mark.parametrize("old", ["nobody wrote this", "import"])
def test_a_fault_that_does_not_fit_is_stale(old):
    with pytest.raises(Stale, match="slip"), planted(in_chapter(MINIMAL, "slip", "", old, "")):
        pass


def test_a_planted_folder_differs_in_the_fault_alone():
    fault = next(fault for fault in FAULTS if fault.name == "causal-for-strict")
    before = {path: path.read_bytes() for path in (ROOT / "src").rglob("*.py")}
    with planted(fault) as folder:
        changed = [
            path.relative_to(ROOT)
            for path in before
            if (folder / path.relative_to(ROOT)).read_bytes() != before[path]
        ]
        assert [str(path) for path in changed] == ["src/emergence/models.py"]
    assert before == {path: path.read_bytes() for path in before}
    assert not folder.exists()


CLAIM = Claim("row", "", "", "paper", "a/b", "key", Expectation("at_most", high=1.0))


def trial(value, **others):
    """A trial that reports a value, or one a seed, under `key`, and others under their names."""
    measures = {
        name: {"value": each, "over": "seeds" if isinstance(each, list) else None, "judged": True}
        for name, each in {"key": value, **others}.items()
        if each is not None
    }
    return Trial("a/b", "none", "none", measures)


def slip(name="slip"):
    return in_chapter("a/b", name, "wrong", "x", "y")


@pytest.mark.parametrize(
    ("sound", "faulty", "expected"),
    [
        (0.5, 2.0, "turned"),
        (0.5, 0.7, "moved"),
        (0.5, 0.5, "same"),
        (0.5, None, "not reached"),
        (0.5, True, "not reached"),  # a measure of another kind has no verdict
        (0.5, float("inf"), "turned"),
        (2.0, 0.5, "improved"),  # a contradicted row has no worse verdict
        (2.0, 3.0, "moved"),
        ([0.5, 0.6], [0.5, 2.0], "turned"),  # seeds that disagree are worse than agreeing ones
        ([0.5, 2.0], [0.5, 0.6], "moved"),
        ([0.5, 0.6, 2.0], [0.5, 3.0, 2.0], "turned"),
        ([0.5, 0.6, 2.0], [3.0, 0.6, 0.5], "moved"),
    ],
)
def test_what_a_fault_makes_of_a_row(sound, faulty, expected):
    assert fate(CLAIM, trial(sound), trial(faulty)) == expected


def test_the_sharpest_fault_comes_first():
    other = replace(CLAIM, id="other", measure="second")
    sound, both, one = trial(0.0, second=0.0), trial(2.0, second=2.0), trial(3.0, second=0.0)
    found = summary([CLAIM, other], sound, {slip("blunt"): both, slip("sharp"): one})
    assert found["rows"]["row"]["turned"] == ["sharp", "blunt"]
    assert found["rows"]["other"] == {"verdict": "reproduced", "turned": ["blunt"]}
    assert found["faults"]["blunt"]["turned"] == 2
    assert not green(found)


def test_a_row_that_a_fault_improves_is_not_turned():
    """At the paper's sizes a contradicted row cannot be; at tiny ones that says nothing."""
    found = summary([CLAIM], trial(2.0), {slip(): trial(0.5)})
    assert found["rows"]["row"] == {"verdict": "contradicted", "improved": ["slip"]}
    assert found["faults"]["slip"]["turned"] == 0
    empty = {"fingerprint": "1", "faults": {}, "rows": {}}
    assert green(record.joined(empty, found, "smoke")) == ["row"]
    assert green(record.joined(empty, found, "paper")) == []


def wrong_training(keeps, kind="loss"):
    return replace(slip(), kind=kind, keeps=keeps)


REASONS = {
    "isotropic": Reason("No direction is preferred.", ("row",)),
    "untrained": Reason("Nothing is trained.", ("other",), every=True),
}


def test_a_wrong_training_keeps_the_rows_of_its_reasons_and_those_of_all():
    kept = kept_rows([wrong_training(("isotropic",)), slip("code")], REASONS, ["row", "other"])
    assert kept == {"slip": {"other": "untrained", "row": "isotropic"}}
    assert kept_rows([wrong_training(())], REASONS, ["row", "other"]) == {
        "slip": {"other": "untrained"}
    }


@pytest.mark.parametrize(
    ("fault", "rows", "told"),
    [
        (wrong_training(("typo",)), ["row", "other"], "slip keeps typo, which kept.yml does not"),
        (wrong_training(()), ["row"], "untrained in kept.yml names other, which the ledger does"),
        (wrong_training(("isotropic",), "code"), ["row", "other"], "slip is no training and keeps"),
    ],
)
def test_reasons_and_rows_that_there_are_not_are_refused(fault, rows, told):
    with pytest.raises(ValueError, match=told):
        kept_rows([fault], REASONS, rows)


def test_a_fault_that_turns_a_row_it_keeps_is_a_contradiction(file):
    fault = wrong_training(("isotropic",))
    found = summary([CLAIM], trial(0.0), {fault: trial(2.0)})
    kept = kept_rows([fault], REASONS, ["row", "other"])
    for profile, amiss in (
        ("smoke", []),
        ("paper", ["slip leaves row true (isotropic) and turns"]),
    ):
        record.write("a/b", record.joined(record.known("a/b", "1", file), found, profile), file)
        record.settle([CLAIM], {}, file, kept=kept, reasons={"isotropic": "No direction."})
        told = contradictions(record.read(file))
        assert [one.partition(" it in")[0] for one in told] == amiss
    record.settle([CLAIM], {}, file)  # a reason that is taken back leaves the row within reach
    assert contradictions(record.read(file)) == []
    assert any("row kills 1 of 1" in line for line in record.lines(file))


def test_there_are_enough_wrong_trainings_and_every_reason_is_used():
    trainings = [fault for fault in FAULTS if fault.kind != "code"]
    assert len([fault for fault in trainings if not fault.symmetry]) >= 20
    named = {name for fault in trainings for name in fault.keeps}
    reasons = read_reasons()
    assert {name for name, reason in reasons.items() if not reason.every} == named
    assert all(len(reason.why.split()) >= 5 for reason in reasons.values())


@pytest.fixture
def file(tmp_path):
    return tmp_path / "mutation.json"


def test_a_record_that_was_carried_over_an_edit_is_added_to(file):
    found = summary([CLAIM], trial(0.0), {slip(): trial(2.0)})
    first = record.joined(record.known("a/b", "1", file), found, "paper")
    record.write("a/b", carried_on(first, "1", "2", "c" * 12, "smoke", 787), file)
    again = record.joined(record.known("a/b", "2", file), found, "paper")
    assert edits_carried(again, "2").edits == 1
    assert record.known("a/b", "3", file)["faults"] == {}


def test_record_drops_what_is_gone_and_lists_what_is_new(file):
    silent, gone, new = (replace(CLAIM, id=name) for name in ("silent", "gone", "new"))
    silent = replace(silent, measure="second")
    found = summary([CLAIM, silent, gone], trial(0.0, second=0.0), {slip(): trial(2.0)})
    record.write("a/b", record.joined(record.known("a/b", "1", file), found, "paper"), file)
    assert record.settle([CLAIM, silent, new], {}, file) == {"a/b": ["silent"]}
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert list(kept["chapters"]["a/b"]["rows"]) == ["row", "silent"]
    assert kept["untried"] == ["new"]
    assert record.settle([CLAIM, silent, new], {"silent": "a reason"}, file) == {}
    assert record.read(file)["argued"] == {"silent": "a reason"}
    assert any("silent (not reached by 1): a reason" in line for line in record.lines(file))


def test_what_was_tried_before_is_added_to_and_tiny_sizes_give_way(file):
    other = replace(CLAIM, id="other", measure="second")
    sound, faulty = trial(0.0, second=0.0), trial(2.0, second=0.0)

    def add(fingerprint, profile, faults):
        before = record.known("a/b", fingerprint, file)
        found = summary([CLAIM, other], sound, faults)
        record.write("a/b", record.joined(before, found, profile), file)
        return record.read(file)["chapters"]["a/b"]

    first = add("1", "smoke", {slip(): faulty})
    assert first["rows"]["row"]["turned"] == ["slip"]
    assert first["faults"]["slip"]["profile"] == "smoke"
    second = add("1", "paper", {slip(): sound, slip("draw"): faulty})
    assert second["rows"]["row"]["turned"] == ["draw"]  # at the paper's sizes the slip does not
    assert add("1", "smoke", {slip(): faulty}) == second
    assert list(add("2", "smoke", {slip(): faulty})["faults"]) == ["slip"]  # another fingerprint


def test_a_trial_finds_the_fault_and_is_kept(tmp_path):
    settings = Settings(profile="smoke", folder=tmp_path)
    fault = next(fault for fault in FAULTS if fault.name == "causal-for-strict")
    raising = in_chapter(MINIMAL, "slip", "", "large = tasks", "large = slip")
    with Executor() as executor:
        sound, faulty, broken = (
            made(MINIMAL, wrong, settings, executor) for wrong in (None, fault, raising)
        )
    assert stored(MINIMAL, fault, settings) == faulty
    assert sound.key != faulty.key
    mask = Claim("m", "", "", "paper", MINIMAL, "self_attention", Expectation("at_most", high=0.0))
    assert [verdict(mask, one) for one in (sound, faulty)] == ["reproduced", "contradicted"]
    assert fate(mask, sound, faulty) == "turned"
    # the cell that raises is named, and what follows it is reached
    assert [error["cause"] for error in broken.errors] == ["NameError: name 'slip' is not defined"]
    assert broken.measures["ideal_loss"]["value"] < 1e-12


def test_a_trial_that_never_ends_is_ended(tmp_path):
    settings = Settings(profile="smoke", folder=tmp_path, timeout=1.0)
    endless = in_chapter(MINIMAL, "endless", "", "n_pairs, dim = 3, 8", "while True: pass")
    with Executor() as executor:
        trial = made(MINIMAL, endless, settings, executor)
    assert trial.errors == [{"cell": 0, "cause": "time-out"}]


def disturbed(value, *, seed=0, share=1.0, only="", how="off"):
    def law():
        return value

    law.__module__, law.__qualname__ = "emergence.theory", "law"
    names = {"law": law}
    wrap(names, Disturbance(seed, share, only, how).disturbed)
    return names["law"]


class Pair(NamedTuple):
    size: int
    level: float


@pytest.mark.parametrize(
    "value",
    [2.0, 0.0, 3, True, 1j, Fraction(1, 3), np.ones(3), np.zeros(3), np.arange(5), torch.ones(2, 2),
     torch.tensor([True] * 20), Pair(3, 1.0), [1.0], {"a": (2.0,)}, sympy.Symbol("x"),
     sympy.Integer(0),
     np.array([Fraction(1, 2)], object)],
    ids=repr,
)  # fmt: skip
def test_a_disturbed_result_is_another_of_its_kind(value):
    off = disturbed(value)()
    assert type(off) is type(value) or isinstance(value, sympy.Expr)
    assert str(off) != str(value)


def test_what_is_not_a_result_stays():
    pair = disturbed(Pair(3, 1.0))()
    assert pair.size == 3
    for kept in ("text", None, float("inf"), MinimalTraining(2, 8, 4, 1), abs):
        assert disturbed(kept)() == kept
    labels = torch.tensor([0, 5, 5])
    assert disturbed(labels)().max() <= 5
    weights = torch.ones(2, requires_grad=True)
    assert disturbed(weights)().requires_grad


def test_one_function_alone_is_put_off_harder():
    pairs = [disturbed(Pair(30, 1.0), seed=seed, only="theory.law")() for seed in range(20)]
    assert all(size != 30 for size, _ in pairs)
    assert 4 < sum(level < 0 for _, level in pairs) < 16
    assert disturbed(1.0, only="theory.flow")() == 1.0
    places = disturbed([1.0] * 200, only="theory.law", how="some")()
    assert 20 < sum(place != 1.0 for place in places) < 60
    size, level = disturbed(Pair(30, 1.0), only="theory.law", how="none")()
    assert (size, 0 < level < 1e-9) == (0, True)
    assert np.abs(disturbed(np.arange(3.0), only="theory.law", how="none")()).max() < 1e-9


def test_functions_that_are_called_are_heard_and_stay_as_they_are():
    called = {}
    names = {"theory": theory, "json": json, "np": np}
    wrap(names, heard(called))
    assert names["theory"].emergence_times(4) == theory.emergence_times(4)
    assert names["json"].loads("[1.5]") == [1.5]
    assert len(called) == 2
    assert any(name.endswith("emergence_times") for name in called)
    assert set(called.values()) == {True}  # a named tuple, a list
    assert [draw.only for draw in alone(called)] == sorted(called) * 5
    assert len({draw.name for draw in alone(called)}) == 10
    assert len(list(alone(dict.fromkeys(called, False)))) == 4


def test_the_lot_falls_on_a_share_of_the_functions():
    drawn = [disturbed(1.0, seed=seed, share=0.25)() != 1.0 for seed in range(200)]
    assert 30 < sum(drawn) < 70
    assert disturbed(1.0, seed=3)() == disturbed(1.0, seed=3)()
    assert disturbed(1.0, seed=3)() != disturbed(1.0, seed=4)()


def test_a_chapter_sees_modules_disturbed_and_the_library_does_not():
    spared = {"np": np, "plotting": plotting, "colour": plotting.colour}
    names = {"theory": theory, "json": json, **spared}
    wrap(names, Disturbance(0, 1.0).disturbed)
    assert names["theory"].emergence_times(4).alpha != theory.emergence_times(4).alpha
    assert names["theory"].Rates is theory.Rates
    assert names["json"].loads("[1.5]") != json.loads("[1.5]") == [1.5]
    assert {name: names[name] for name in spared} == spared


def test_what_a_sweep_keeps_is_known_by_its_sources_and_its_disturbance():
    """Else a fault beneath a sweep would meet what the sweep found without it."""
    kept = []

    class Notes(cache.Cache):
        def put(self, task, result):
            kept.append((task.module, task.function))

    for change in (heard({}), *(draw.disturbed for draw in (DRAWS[0], replace(DRAWS[0], seed=1)))):
        names = {"flow_times": full_flow.flow_times}
        for _ in range(2):  # after each statement of a chapter
            wrap(names, change)
        with cache.attached(Notes()):
            sweep.run(names["flow_times"], [full_flow.Flow(2, "last")], label="flows")
    assert kept == [
        ("chapters.beyond.full_flow", name)
        for name in ("flow_times", "flow_times, disturbed-0", "flow_times, disturbed-1")
    ]


def test_a_number_that_was_typed_stays_green(tmp_path):
    constant = in_chapter(
        MINIMAL, "typed", "",
        "float(before.diagonal(dim1=-2, dim2=-1).abs().max())", "0.0",
    )  # fmt: skip
    rows = [
        Claim(name, "", "", "paper", MINIMAL, name, Expectation("at_most", high=1e-9))
        for name in ("self_attention", "ideal_loss")
    ]
    with planted(constant) as root, Executor() as executor:
        settings = Settings(profile="smoke", root=root, folder=tmp_path)
        sound, off = (made(MINIMAL, wrong, settings, executor) for wrong in (None, DRAWS[0]))
        assert stored(MINIMAL, DRAWS[0], settings) == off
        assert stored(MINIMAL, DRAWS[1], settings) is None
    assert [fate(row, sound, off) for row in rows] == ["same", "turned"]
