"""Trainings in which parts of the head are held or given, and random initial weights.

A piece of the induction head given to the transformer of §2 before it is trained.

The steps behind the laws of knock-in tests, each as a residual that must vanish.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import sympy as sp
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import AttentionOnlyTransformer
from emergence.proofs.speeds import ALPHA, AREA, SHARE, B, G, N, T, late_speeds

Part = Literal["previous", "match", "copy"]
PARTS: tuple[Part, ...] = get_args(Part)
Sham = Literal["permuted", "rotated"]


@dataclass(frozen=True)
class Given:
    """Parts of the head that are in place before the first step of `train_tokens`.

    `previous` makes each position of layer 1 attend to the one before, `match` makes the query of
    layer 2 attend to what retrieved its token, `copy` makes the output predict the token that layer
    2 retrieved: each with the score or logit `strength` and nothing else. All of it may change in
    training. A sham has the same singular values. `permuted` has the same rows in another order: a
    position attends two back, the query matches the token before its own in the vocabulary, the
    output predicts the one after. `rotated` has the same rows in random directions.
    """

    parts: tuple[Part, ...]
    strength: float = 8.0  # in logits: e^8 outweighs all other entries of a context
    sham: Sham | None = None  # weights of the same size that do not do the step

    @torch.no_grad()
    def __call__(self, model: AttentionOnlyTransformer) -> None:
        """Replace random matrices by those that do the steps exactly; the rest is untouched.

        Raises ValueError for an unknown part or sham, or a width too small for an exact basis.
        """
        if unknown := set(self.parts) - set(PARTS):
            raise ValueError(f"part must be one of {PARTS}, got {sorted(unknown)[0]!r}")
        if self.sham is not None and self.sham not in get_args(Sham):
            raise ValueError(f"sham must be one of {get_args(Sham)}, got {self.sham!r}")
        if not self.parts:
            return
        embeddings = torch.cat([model.W_E, model.W_pos], dim=1)
        dim, n_tokens = model.W_E.shape
        written = model.W_O[0] @ (model.W_V[0] @ embeddings)
        basis = torch.cat([embeddings, written], dim=1)
        n = embeddings.shape[1]
        needed = basis.shape[1] + n_tokens
        if dim < needed:
            raise ValueError(f"an exact piece of the head needs a width of {needed}, got {dim}")
        tokens, positions = slice(0, n_tokens), slice(n_tokens, n)
        shift = int(self.sham == "permuted")
        before = [part.clone() for part in model.parameters()]
        if "previous" in self.parts:
            read = torch.linalg.pinv(embeddings)[positions]
            after, before_it = read.roll(-1, dims=0)[:-1], read[:-1].roll(shift, dims=0)
            _score(model, 0, after, before_it, self.strength)
        if "match" in self.parts:
            read = torch.linalg.pinv(basis)
            _score(model, 1, read[tokens], read[n:][tokens].roll(shift, dims=0), self.strength)
        if "copy" in self.parts:
            read = torch.linalg.pinv(basis)[tokens]
            # written outside all that the stream holds, so that only the second head speaks
            free = torch.linalg.qr(basis, mode="complete").Q[:, basis.shape[1] :][:, :n_tokens]
            size = self.strength ** (1 / 3)  # shared evenly by value, projection and output
            norm = float(torch.linalg.matrix_norm(read, 2))
            model.W_V[1].copy_(size / norm * _padded(read, dim))
            model.W_O[1].copy_(size * norm * _padded(free.T, dim).T)
            model.W_U.copy_(size * free.T.roll(shift, dims=0))
        if self.sham == "rotated":
            stream = torch.Generator().manual_seed(0)  # the same turn in every run
            for part, old in zip(model.parameters(), before, strict=True):
                if not torch.equal(part, old):
                    turn = torch.linalg.qr(torch.randn(dim, dim, generator=stream)).Q
                    part.copy_(part @ turn.to(part))


def _score(
    model: AttentionOnlyTransformer,
    layer: int,
    query: Float[Tensor, "rank dim"],
    key: Float[Tensor, "rank dim"],
    strength: float,
) -> None:
    """Make the scores of a layer strength * query(x) . key(y)."""
    dim = model.W_E.shape[0]
    size = (strength * dim**0.5) ** 0.5
    model.W_Q[layer].copy_(size * _padded(query, dim))
    model.W_K[layer].copy_(size * _padded(key, dim))


def _padded(rows: Float[Tensor, "rank dim"], dim: int) -> Float[Tensor, "dim dim"]:
    return torch.cat([rows, rows.new_zeros(dim - len(rows), dim)])


KAPPA = sp.Symbol("kappa", positive=True)
HALF = sp.Rational(1, 2)


def held_residuals() -> dict[str, sp.Expr]:
    """One parameter held."""
    held, x = sp.symbols("a x", positive=True)
    late = late_speeds()
    by_alpha, by_beta = (speed.subs(G, 1) / N**2 for speed in late[:2])
    ahead = sp.limit(N * (sp.exp(B * SHARE) - 1), N, sp.oo) / N  # of 1, where gamma follows s
    curve = (ahead / by_beta).subs(ALPHA, B**2 / 2).subs(B, x)
    gain = sp.integrate(sp.simplify(curve), (x, 0, B))
    return {
        "beta held": sp.simplify(
            sp.integrate(1 / by_alpha.subs(ALPHA, x), (x, 0, HALF))
            - 2 * N**2 * (1 - sp.exp(-HALF)) / B
        ),
        "alpha held": sp.simplify(HALF / by_beta.subs(ALPHA, held) - N**2 * sp.exp(-held)),
        "alpha saturated, gamma held": sp.simplify(
            sp.integrate(N * sp.exp(-x), (x, 0, HALF)) - N * (1 - sp.exp(-HALF))
        ),
        "gamma's start": sp.integrate(sp.exp(-x / N), (x, 0, sp.oo)) - N,
        "gamma held, beta": (N - gain).subs(B, HALF) - sp.Rational(7, 8) * N,
        "gamma held, alpha": (N - gain).subs(B, 1) - N / 2,
    }


def cross_entropy_residuals() -> dict[str, sp.Expr]:
    """The same head with a cross-entropy over K = N/(1 - kappa) labels."""
    gamma = KAPPA * T / (2 * N)
    time = 4 * sp.sqrt(AREA / KAPPA) * N ** sp.Rational(3, 2)
    n_labels = N / (1 - KAPPA)
    return {
        "speed of gamma": sp.simplify((1 - N / n_labels) / (2 * N) - sp.diff(gamma, T)),
        "its time": sp.simplify(gamma.subs(T, N / KAPPA) - HALF),
        "area swept": sp.simplify(
            sp.diff(KAPPA * T**2 / (16 * N**3), T) - gamma / (2 * N) / (2 * N)
        ),
        "time of an area": sp.simplify(KAPPA * time**2 / (16 * N**3) - AREA),
    }
