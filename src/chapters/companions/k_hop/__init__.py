"""k-hop: the composition of k functions given in context, and in how many layers and steps."""

from dataclasses import dataclass

from emergence.presets import Preset


@dataclass(frozen=True)
class KHop:
    """Sizes are ours. Trainings are stored (`phases`); what is here takes seconds."""

    constructed_k: int = 16  # all k up to it
    contexts: int = 50  # a k, each with four questions; half of them permutations
    enumerated: tuple[tuple[int, int], ...] = ((3, 1), (3, 2), (3, 3), (4, 1))  # (N, k): all pairs
    squared_symbols: int = 7  # N up to it: all permutations
    gradients: tuple[tuple[int, int], ...] = ((3, 1), (3, 2), (4, 1))  # (N, k)
    width: int = 16  # of the networks whose gradients are taken


PRESET = {
    "paper": Preset(KHop()),
    "smoke": Preset(
        KHop(
            constructed_k=5,
            contexts=6,
            enumerated=((3, 1), (3, 2)),
            squared_symbols=5,
            gradients=((3, 1), (3, 2)),
            width=4,
        ),
        2,
    ),
}
