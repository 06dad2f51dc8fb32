"""The executed proof of Theorem 1: group sizes, dimensions and lengths of descent."""

from dataclasses import dataclass

from emergence.presets import preset


@dataclass(frozen=True)
class StructureProof:
    """Everything in double precision and tiny: the data are finite sums, not samples."""

    group_sizes: tuple[int, ...] = (1, 2, 3)  # k of Propositions 1 to 4
    dims: tuple[int, ...] = (2, 4, 8)  # D of the averaged gradient
    steps: int = 60  # of descent


PRESET = preset(
    paper=StructureProof(), smoke=StructureProof(group_sizes=(1, 2), dims=(2, 4), steps=12)
)
