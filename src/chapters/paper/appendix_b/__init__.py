"""The executed proof of Theorem 2: the numbers of pairs at which its bounds are tested."""

from dataclasses import dataclass

from emergence.presets import preset


@dataclass(frozen=True)
class TightBoundProof:
    """Numbers of pairs N, from the one from which the bounds are proved."""

    sizes: tuple[int, ...] = tuple(2**k for k in range(7, 21))


PRESET = preset(paper=TightBoundProof(), smoke=TightBoundProof(sizes=(128, 256)))
