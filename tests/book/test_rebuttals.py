"""Whoever is contradicted is heard: rows of the paper that do not hold have a defence in print."""

import re
import statistics

import pytest
from bookbuild.ledger.seed_sensitivity import told

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.stored import ROUNDING, SEEDS, read_record
from tools.this_book import ROOT, claims

STORED = [read_record(ROOT / record)["chapters"] for record in (SEEDS, ROUNDING)]
PAPER = [claim for claim in claims().values() if claim.kind == "paper"]
QUOTED = re.compile("“([^”]+)”")
PLACED = re.compile(r"\((Abstract|§|App\.|Fig\.|Assumption)")


def verdicts(claim):
    """The verdicts on a row that are on record, judged by the expectation as it is today."""
    if claim.not_testable:
        return {"not testable here"}
    reruns = (told(Finding(claim, None, "reproduced"), stored, {}) for stored in STORED)
    return {verdict for rerun in reruns if rerun for verdict in rerun.verdicts}


@pytest.mark.parametrize("claim", PAPER, ids=lambda claim: claim.id)
def test_a_row_that_does_not_hold_everywhere_has_a_rebuttal(claim):
    owed = [verdict for verdict in verdicts(claim) if claim.owes_a_rebuttal(verdict)]
    assert not owed, f"{claim.id} is {', '.join(owed)} on record, and nobody defends it"


def test_some_rows_of_the_paper_do_not_hold():
    assert {"partly", "contradicted", "not testable here"} <= set().union(*map(verdicts, PAPER))


def test_only_rows_of_the_paper_are_defended_and_each_quotes_a_sentence_in_brief():
    defended = [claim for claim in claims().values() if claim.rebuttal]
    assert {claim.kind for claim in defended} == {"paper"}
    for claim in defended:
        (words,) = (len(quote.split()) for quote in QUOTED.findall(claim.rebuttal.sentence))
        assert words <= 25, claim.id
        assert PLACED.search(claim.rebuttal.sentence), claim.id


def test_the_bound_on_the_gain_of_mlps_is_three_deviations_between_seeds():
    """A gain in accuracy below it cannot be told from the luck of a seed."""
    row = STORED[0]["paper/02_induction_heads"]["rows"]["mlp-no-better"]
    healthy = [gain for gains in row["values"] for gain in gains if abs(gain) < 0.5]
    bound = claims()["mlp-no-better"].expectation.high
    assert len(healthy) >= 10
    assert 2.5 < bound / statistics.stdev(healthy) < 3.5
