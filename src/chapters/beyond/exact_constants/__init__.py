"""Constants of the emergence times: sizes of the flow, and of the rigorous bounds."""

from dataclasses import dataclass

from emergence.presets import preset


@dataclass(frozen=True)
class ExactConstants:
    """Numbers of pairs N."""

    sizes: tuple[int, ...] = tuple(2**k for k in range(4, 21))
    large: int = 1024  # from which the next order of the collapse is judged
    defect: float = 1e-7  # of a validated step
    first: int = 8  # from which the bounds for all N begin; below, one N at a time
    slices: int = 100  # of the curve, in these bounds
    shown: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 11, 16, 23, 32, 45, 64, 91, 128)


PRESET = preset(
    paper=ExactConstants(),
    smoke=ExactConstants(
        sizes=tuple(2**k for k in range(4, 9)),
        large=64,
        defect=1e-6,
        shown=(2, 5, 8, 32),
    ),
)
