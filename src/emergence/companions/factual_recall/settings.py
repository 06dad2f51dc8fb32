"""Settings of the chapter on factual recall, in both profiles.

Values are those of the code of Nichani and others (2024); a comment says where ours differ.
"""

from dataclasses import dataclass, field

from emergence.preset import Preset

from .model import Shape
from .task import Facts


@dataclass(frozen=True)
class Settings:
    """Of sequential learning (first), of its order (next), of capacity (last)."""

    facts: Facts = field(default_factory=Facts)
    alpha: float = 1e-5  # every initial weight
    learning_rate: float = 0.1
    batch_size: int = 1024
    steps: int = 6144  # source: 8192, of which the last quarter shows nothing new
    every: int = 64
    test_size: int = 4096  # source: 65536
    order_facts: tuple[Facts, ...] = (  # ours: from relations long before to subjects first
        Facts(32, 4, 8), Facts(16, 4, 8), Facts(8, 16, 4), Facts(8, 8, 8), Facts(8, 32, 4),
        Facts(4, 16, 4), Facts(4, 32, 4),
    )  # fmt: skip
    order_alpha: float = 1e-3  # ours: shortens the runs and nothing else
    order_every: int = 16
    order_test: int = 512

    answers: int = 8
    length: int = 32
    least_recall: float = 0.99  # share of the facts at which they count as stored
    shapes: tuple[Shape, ...] = (  # source: d = 8 to 90, H d_h and m from d/4 to 4d, H = 8
        Shape(12, 8, 1, 12), Shape(16, 8, 1, 8), Shape(16, 8, 2, 16), Shape(16, 8, 1, 32),
        Shape(16, 8, 4, 8), Shape(16, 8, 1, 64), Shape(16, 8, 4, 32),
    )  # fmt: skip
    guess: float = 0.1  # facts a parameter, where the search begins
    capacity_rate: float = 0.02  # AdamW, falling to zero; source: 0.001, 0.003 and 0.01, constant
    capacity_steps: int = 3000  # source: 16384
    capacity_every: int = 50
    capacity_tolerance: float = 1.06  # S + R is known within this factor


PRESET = {
    "paper": Preset(Settings()),
    "smoke": Preset(
        Settings(
            facts=Facts(8, 4, 4, 8, 12),
            alpha=1e-3,
            batch_size=256,
            steps=2000,
            test_size=512,
            order_facts=(Facts(8, 4, 4, 8, 12), Facts(4, 4, 4, 8, 12)),
            shapes=(Shape(6, 2, 1, 6), Shape(8, 2, 2, 16), Shape(12, 2, 4, 32)),
            answers=4,
            length=12,
            least_recall=0.8,
            guess=0.08,
            capacity_steps=160,
        ),
        2,
    ),
}
