"""The algebra of this companion with SymPy: pair forces and the ReLU kernel."""

import sympy as sp
from sympy.simplify.fu import TR8  # products of sines and cosines to sums

X, Y, U, V = sp.symbols("x y u v", real=True)  # s = (x, y) and its partner s' = (u, v)
H, R = sp.symbols("h r", positive=True)  # the width, the core
PHI = sp.Symbol("phi", positive=True)


def pair_residuals() -> dict[str, sp.Expr]:
    """Left minus right side of the pair forces that `energy` adds up."""
    apart = (X - U) ** 2 + (Y - V) ** 2
    near = sp.exp(-apart / (2 * H**2))
    length, other = X**2 + Y**2 + R**2, U**2 + V**2 + R**2
    c, d = (U**2 - V**2) / other, 2 * U * V / other  # of the partner
    turned = ((X**2 - Y**2) * c + 2 * X * Y * d) / length
    angle = sp.atan2(Y, X) - sp.atan2(V, U)
    clear = (X**2 + Y**2) * (U**2 + V**2) / (length * other)
    sine = 2 * (Y * U - X * V) * (X * U + Y * V) / ((X**2 + Y**2) * (U**2 + V**2))
    left_over = {
        "C of angles and of vectors": turned - clear * sp.expand_trig(sp.cos(2 * angle)),
        "sin 2D of angles and of vectors": sine - sp.expand_trig(sp.sin(2 * angle)),
    }
    sides = (("x", X, U, X * c + Y * d, -Y), ("y", Y, V, X * d - Y * c, X))
    for name, along, partner, toward, across in sides:
        left_over[f"clustering force along {name}"] = (
            -sp.diff(near, along) - near * (along - partner) / H**2
        )
        force = 2 * (turned * along - toward) / length
        left_over[f"alignment force along {name}"] = -sp.diff(turned, along) - force
        # without a core it only turns: 2 sin 2D across the line from the centre
        left_over[f"without a core, along {name}"] = (
            force - 2 * sine * across / (X**2 + Y**2)
        ).subs(R, 0)
    return {name: sp.simplify(left) for name, left in left_over.items()}


def arc_cosine() -> sp.Expr:
    """The mean of relu(w.s) relu(w.s') over w ~ N(0, 1), for unit vectors at the angle phi."""
    return (sp.sin(PHI) + (sp.pi - PHI) * sp.cos(PHI)) / (2 * sp.pi)


def harmonic(order: int) -> sp.Expr:
    """The coefficient of cos(order phi) in the kernel of ReLU units."""
    share = sp.Integer(1 if order == 0 else 2) / sp.pi
    part = sp.expand(TR8(sp.expand(share * arc_cosine() * sp.cos(order * PHI))))
    return sp.simplify(sp.integrate(part, (PHI, 0, sp.pi)))


def harmonic_residuals() -> dict[str, sp.Expr]:
    """Odd harmonics beyond the first vanish, even ones have a closed form."""
    harmonics = {order: harmonic(order) for order in range(7)}
    closed = {order: 4 / (sp.pi * (order**2 - 1)) ** 2 for order in (2, 4, 6)}
    return {
        "harmonic 1": sp.simplify(harmonics[1] - sp.Rational(1, 4)),
        "harmonic 3": harmonics[3],
        "harmonic 5": harmonics[5],
        **{f"harmonic {k}": sp.simplify(harmonics[k] - value) for k, value in closed.items()},
    }
