"""The collapse time against flows that know nothing of its proof, and against wrong constants."""

import math

import pytest

from chapters.beyond.exact_constants import collapse
from emergence import theory
from emergence.theory import limits


def left(n_pairs, rest, terms):
    """What the rest has beside C, C1/b and C2/b^2, times b^3."""
    late = limits.late_beta(n_pairs)
    series = sum(part / late**k for k, part in enumerate(terms))
    return (rest - series) * late**3


@pytest.mark.parametrize("n_pairs", [4096, 2**16])
def test_the_rest_is_that_of_the_integrated_flow(n_pairs):
    time = math.sqrt(2 * math.pi) * n_pairs**2
    time += n_pairs * (collapse.stated(n_pairs) + collapse.rest(n_pairs))
    assert theory.emergence_times(n_pairs).collapse == pytest.approx(time, rel=1e-9)


def test_three_constants_leave_the_third_power():
    terms = limits.last_phase()
    rests = {n_pairs: collapse.rest(n_pairs) for n_pairs in (10**20, 10**40, 10**80)}
    sizes = [left(n, rests[n], terms) for n in (10**20, 10**40, 10**80)]
    assert all(0.5 < size < 1.5 for size in sizes)
    assert sizes[2] - sizes[1] < sizes[1] - sizes[0]  # it has a limit
    for k, wrong in enumerate((3e-4, 5e-3, 0.08)):
        planted = [part - (k == order) * wrong for order, part in enumerate(terms)]
        assert left(10**80, rests[10**80], planted) > 1.5


def test_few_pairs_are_refused():
    with pytest.raises(ValueError, match="at least 4096 pairs"):
        collapse.rest(1000)
