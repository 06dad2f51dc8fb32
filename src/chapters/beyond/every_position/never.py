"""No head for three parameters under the causal mask: the sign that needs interval arithmetic.

Theorem "Never", step 3: where alpha = 0 and beta = -x < 0, the push on alpha has the sign of -A,
and A > 0 follows from three prefixes at the largest gamma. `least_lift` encloses it for all x.
"""

from fractions import Fraction

from flint import arb, ctx

from emergence.proofs.intervals import Bounds, outward
from emergence.running.memo import kept

PRECISION = 64
FAR = 64  # x from which on one ball holds all exponentials
FINEST = 2.0**-12  # the narrowest interval of x that is tried


def gamma_bound(n_pairs: int) -> Fraction:
    """Gamma_N, above which gamma falls as long as beta <= 0 (step 2)."""
    numbers, none = range(1, n_pairs + 1), Fraction(0)
    rises = sum((Fraction(1, 2 * n * (2 * n - 1)) for n in numbers), none)
    return 1 + rises / (2 * sum((Fraction(1, n) for n in numbers), none))


def sum_of_pushes() -> Bounds:
    """The sum over all prefixes of c_n, their largest push on beta at beta = 0 (step 1)."""
    ctx.prec = PRECISION
    return outward(3 * arb.pi() ** 2 / 8 + arb(1) / 2 - arb(7) / 2 * arb(3).zeta())


@kept
def least_lift(gamma: Fraction | float) -> float:
    """A lower bound of e^(x/6) A for all x >= 0, with the prefixes of one to three pairs (step 3).

    Raises ArithmeticError where A may not be positive.
    """
    ctx.prec = PRECISION
    most = arb(gamma.numerator) / gamma.denominator if isinstance(gamma, Fraction) else arb(gamma)
    least = _lift(arb(FAR), most, beyond=True).lower()
    if not least > 0:
        raise ArithmeticError(f"A may be negative beyond x = {FAR}, gamma = {gamma}")
    intervals = [(0.0, float(FAR))]
    while intervals:
        low, high = intervals.pop()
        lift = _lift(arb(low).union(arb(high)), most).lower()
        if lift > 0:
            least = least.min(lift)
        elif high - low < FINEST:
            raise ArithmeticError(f"A may be negative at x = {low}, gamma = {gamma}")
        else:
            middle = (low + high) / 2
            intervals += [(low, middle), (middle, high)]
    return outward(least).low


def _lift(x: arb, gamma: arb, *, beyond: bool = False) -> arb:
    """e^(x/6) A of prefixes of one to three pairs at alpha = 0, beta = -x; `beyond`, at x or more.

    In each term g = 1/2n, w = e^(-x/2n), s = e^(-x/(2n - 1)) + e^(-2x/(2n + 1)), p = w/Z with
    Z = w + s + 2n - 2, and p - R = (s (w - s) - (2n - 2)(1 - w))/Z^2.
    """

    def fade(rate: Fraction) -> arb:
        value = (-x * rate.numerator / rate.denominator).exp()
        return arb(0).union(value) if beyond and rate else value

    # n = 1: with s/w = e^(-x/6) (1 + e^(-x/3)), and 1 - p = s/w over 1 + s/w
    over = fade(Fraction(1, 6)) * (1 + fade(Fraction(1, 3)))
    missed = over / (1 + over)
    total = (1 + fade(Fraction(1, 3))) * (1 - missed) ** 2 * (1 - gamma * (1 - 2 * missed)) / 4
    for n in (2, 3):
        g, others = Fraction(1, 2 * n), 2 * n - 2
        w = fade(g)
        s = fade(Fraction(1, 2 * n - 1)) + fade(Fraction(2, 2 * n + 1))
        norm = w + s + others
        p, ahead = w / norm, (s * (w - s) - others * (1 - w)) / norm**2
        weight = g * (1 - g)
        raised = fade(g - Fraction(1, 6)) if n == 2 else arb(1)  # e^(x/6) w
        total += raised / norm * (1 - p - gamma * ahead) * weight.numerator / weight.denominator
    return total
