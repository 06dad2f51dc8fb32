"""Whoever is contradicted is heard: rows about a source that do not hold have a defence."""

import statistics

import pytest

from evidence.record import read_record
from tools.this_book import ROOT, claims

RECORD = read_record(ROOT)
REPEATED = pytest.mark.skipif(
    not RECORD.of("paper/02_induction_heads", "seed"), reason="nothing has been repeated yet"
)
OURS = "Companion, ours"
SOURCES = [claim for claim in claims().values() if claim.kind in ("paper", "companion")]


def verdicts(claim):
    """The verdicts on a row that are on record, judged by the expectation as it is today."""
    if claim.not_testable:
        return {"not testable here"}
    return {verdict for rerun in reruns(claim) if (verdict := claim.verdict_on(rerun.values))}


def reruns(claim):
    """What the record has of a row at other first seeds and under other roundings."""
    outcomes = RECORD.of(claim.chapter, "seed", "rounding")
    return [outcome for outcome in outcomes if claim.measure in outcome.values]


def test_a_row_that_does_not_hold_everywhere_has_a_rebuttal():
    owed = {claim.id for claim in SOURCES for v in verdicts(claim) if claim.owes_a_rebuttal(v)}
    assert owed == set(), "nobody defends these rows, which do not hold on record"


@REPEATED
def test_some_rows_of_the_paper_do_not_hold():
    assert {"partly", "not testable here"} <= set().union(*map(verdicts, SOURCES))


def test_what_is_judged_under_another_name_than_ours_opens_with_a_printed_sentence_in_brief():
    for claim in claims().values():
        if claim.kind in ("paper", "sharper") or (claim.rebuttal and claim.source != OURS):
            assert 1 <= len(claim.printed.split()) <= 25, claim.id
        else:
            assert not claim.printed, claim.id


@REPEATED
def test_the_bound_on_the_gain_of_mlps_is_three_deviations_between_seeds():
    """A gain in accuracy below it cannot be told from the luck of a seed."""
    claim = claims()["mlp-no-better"]
    gains = [
        gain for rerun in reruns(claim) if rerun.kind == "seed" for gain in rerun.values["mlp_gain"]
    ]
    healthy = [gain for gain in gains if abs(gain) < 0.5]
    assert len(healthy) >= 10
    assert 2.5 < claim.expectation.high / statistics.stdev(healthy) < 3.5
