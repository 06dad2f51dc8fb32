"""The flow of App. B.5 by Taylor's method in 40 digits; no step or formula is the library's."""

from flint import arb, arb_series, ctx

ORDER, BITS = 40, 140


def emergence_times(n_pairs, level):
    """When alpha, beta, gamma first are at the level, and when the loss is 1/2, as floats."""
    bits, cap = ctx.prec, ctx.cap
    ctx.prec, ctx.cap = BITS, ORDER + 1
    try:
        return [float(time.mid()) for time in _crossings(n_pairs, arb(level))]
    finally:
        ctx.prec, ctx.cap = bits, cap


def _crossings(n, level):
    def heights(alpha, beta, gamma):
        s = (beta * alpha.exp() / (alpha.exp() + 2 * n - 2)).exp()
        r, rest = s + 2 * n - 1, 2 * n - 1
        loss = gamma * gamma * (s * s + rest) / (r * r) - 2 * gamma * s / r + 1
        return alpha - level, beta - level, gamma - level, 0.5 - loss

    time, state, result = arb(0), [arb(0)] * 3, {}
    while len(result) < 4:
        path = _series(state, n)
        # the last terms say how far the series reaches: what is left out is near 1e-38
        reach = min(
            (arb(10) ** -38 / (abs(part[k]) + arb(10) ** -300)).log().mid() / k
            for part in path for k in (ORDER - 1, ORDER)
        ).exp().mid()  # fmt: skip

        def at(h, path=path):
            return [_value(part, h) for part in path]

        signs = heights(*at(reach))
        for i in range(4):
            if i not in result and signs[i] >= 0:
                low, high = arb(0), reach
                for _ in range(70):
                    middle = ((low + high) / 2).mid()
                    low, high = (low, middle) if heights(*at(middle))[i] >= 0 else (middle, high)
                result[i] = time + high
        time, state = (time + reach).mid(), [value.mid() for value in at(reach)]
    return [result[i] for i in range(4)]


def _series(state, n):
    """Taylor coefficients of the solution: each pass through App. B.5 makes one more right."""
    path = [arb_series([value]) for value in state]
    for length in range(1, ORDER + 1):
        ctx.cap = length
        speeds = _velocity(*path, n)
        ctx.cap = length + 1
        path = [speed.integral() + value for speed, value in zip(speeds, state, strict=True)]
    return path


def _velocity(alpha, beta, gamma, n):
    """The three rates as printed."""
    grown = alpha.exp()
    big = grown + (2 * n - 2)
    s = (beta * grown / big).exp()
    r = s + (2 * n - 1)
    push = gamma / (r * r) - gamma * gamma * (s - 1) / (r * r * r)
    shared = 2 * (2 * n - 1) * s * grown
    return (
        beta * (2 * n - 2) * shared / (big * big) * push,
        shared / big * push,
        2 * s / r - 2 * gamma * (s * s + (2 * n - 1)) / (r * r),
    )


def _value(series, h):
    total = arb(0)
    for k in range(ORDER, -1, -1):
        total = total * h + series[k]
    return total
