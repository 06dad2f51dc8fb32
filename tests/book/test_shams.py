"""A sham that helps fails the check of shams."""

import re

from emergence import theory
from tools.this_book import ROOT

PAGE = (ROOT / "book/beyond/07_knock_in.md").read_text(encoding="utf-8")


def gain(beta):
    """How much sooner alpha emerges with beta held at this value, at sixteen pairs."""
    landscape = theory.landscape_of(16)
    held = theory.times_in(landscape, rates=theory.Rates(beta=0.0), start=(0.0, beta, 0.0))
    return theory.times_in(landscape).alpha / held.alpha


def test_only_the_true_sham_of_the_flow_keeps_to_its_bound():
    (bound,) = re.findall(r"fastest_sham, at_most=([\d.]+)\)", PAGE)
    assert gain(-1.0) <= float(bound) < gain(1.0)
