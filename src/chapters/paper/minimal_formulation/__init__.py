"""The minimal formulation of §3: its solutions, one layer trained on it, and finite streams."""

from dataclasses import dataclass

from emergence.presets import preset


@dataclass(frozen=True)
class MinimalFormulation:
    """Sizes are ours: the paper states the claims in words."""

    solved_pairs: tuple[int, ...] = (2, 3, 8, 64)  # N of the solutions
    dense_pairs: tuple[int, ...] = (2, 3, 8)  # N at which the network itself is run
    one_layer_pairs: tuple[int, ...] = (4, 8)  # N of the trained layer
    one_layer_dim: int = 8  # its D
    one_layer_steps: int = 300  # five times as many lower its loss by less than 0.01
    stream_pairs: int = 4  # N of the model in a stream
    stream_dim: int = 8  # its D
    streams: tuple[int, ...] = tuple(2**k for k in range(12, 22))  # widths d; 8D = 64 is the least
    stream_draws: int = 32  # sets of directions a width
    waiting_pairs: tuple[int, ...] = tuple(2**k for k in range(10, 17))  # N of the flow


PRESET = preset(
    paper=MinimalFormulation(),
    smoke=MinimalFormulation(
        one_layer_pairs=(4,),
        one_layer_dim=4,
        one_layer_steps=20,
        streams=(2**12, 2**14, 2**16),
        stream_draws=8,
        waiting_pairs=(2**10, 2**11, 2**12),
    ),
)
