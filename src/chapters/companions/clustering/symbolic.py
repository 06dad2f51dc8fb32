"""The pair forces of this companion with SymPy."""

import sympy as sp

X, Y, U, V = sp.symbols("x y u v", real=True)  # s = (x, y) and its partner s' = (u, v)
H, R = sp.symbols("h r", positive=True)  # the width, the core


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
