"""The explorable of a loss at every position: Python's times, and answers to its readers."""

import numpy as np
import pytest

from browser import call, says
from emergence import theory

PAGE = "book/beyond/14_every_position.html"
MOUNT = "[data-explorable=positions]"
ORDER = ("alpha", "beta", "gamma", "icl", "collapse")


RULES = {"strict": "", "causal": ", m.lossCausal"}


@pytest.mark.parametrize("mask", RULES)
@pytest.mark.parametrize("n_pairs", [2, 3, 16, 256])
def test_times_are_those_of_python(modules, n_pairs, mask):
    result = call(modules, "every", f"m.everyTimes(x{RULES[mask]})", n_pairs)
    expected = theory.emergence_times(n_pairs, supervision="every", mask=mask)
    assert [result[name] for name in ORDER] == pytest.approx(list(expected), rel=1e-6)


@pytest.mark.parametrize("mask", RULES)
@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), (1.3, 2.1, 1.1), (-1.0, 3.0, 0.5)])
def test_loss_and_gradient_are_those_of_python(modules, point, mask):
    result = call(modules, "every", f"m.lossEvery(x, 40{RULES[mask]})", point)
    land = theory.landscape_of(40, supervision="every", mask=mask)
    expected = [land.loss(*point), *land.gradient(*point)]
    assert np.array(result) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-15)


def test_it_answers_to_the_keyboard(page):
    mount = page(PAGE, "positions").locator(MOUNT)
    summary = mount.locator("[role=status]")
    says(summary, "N = 64")
    expected = theory.emergence_times(64, supervision="every").alpha
    assert f"{expected:,.1f}" in mount.locator("tr[data-event=alpha]").text_content()
    size = mount.get_by_label("Pairs in the context, N")
    size.focus()
    mount.page.keyboard.press("Home")
    says(summary, "N = 2")
