"""What each rule of the algebra is good for: which identities of A.6 and A.7 fail without it."""

from collections.abc import Mapping

from .structure import backward, forward
from .words import ORTHOGONALITY, PROPOSITION_4, RULES, E, F, M, Rules

#: The rules by name: what A.6 and A.7 may use of E, F and M.
BY_NAME: Mapping[str, Rules] = {
    "E orthogonal": {p: w for p, w in ORTHOGONALITY.items() if E in p},
    "F orthogonal": {p: w for p, w in ORTHOGONALITY.items() if F in p},
    "F M = M F": PROPOSITION_4,
    "M M = I": {p: w for p, w in ORTHOGONALITY.items() if M in p},
}

#: What should fail, by reading A.6 and A.7. Scores and the gradients of Q and T are products of a
#: content with a content, and of a position with a position: E E^T and F F^T meet there. Gradients
#: of V's even blocks are zero, so Q's has no F. Where M stands between two turned positions, or
#: beside one, it must pass F.
EXPECTED: Mapping[str, frozenset[str]] = {
    "E orthogonal": frozenset({"S' = S", "P' = P", "dL/dQ", "dL/dT"}),
    "F orthogonal": frozenset({"S' = S", "P' = P", "dL/dT"}),
    "F M = M F": frozenset({"X_2' = X_2 F", "S' = S", "P' = P", "dL/dU_2", "dL/dU_4", "dL/dT"}),
    "M M = I": frozenset(),
}


def failing(rules: Rules) -> set[str]:
    """The identities whose remainder does not vanish when these rules alone may be used."""
    remainders = forward(rules) | {f"dL/d{name}": rest for name, rest in backward(rules).items()}
    return {name for name, rest in remainders.items() if rest != 0}


def failing_without(name: str) -> set[str]:
    """The identities that need this rule. Raises KeyError for an unknown one."""
    dropped = BY_NAME[name]
    return failing({pair: word for pair, word in RULES.items() if pair not in dropped})
