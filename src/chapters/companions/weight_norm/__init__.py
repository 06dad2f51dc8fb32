"""Neural weight norm and Kolmogorov complexity: looped networks of ternary weights.

`model` defines, runs and builds them; `printers` and `tag` are upper bounds on weight, `codec` is a
lower one; `small` enumerates, `prior` bounds and trains. All sizes are ours, since only an abstract
is known.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class WeightNormSettings:
    """Lengths of strings and programs, sizes of permutations, and which small networks."""

    lengths: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024)  # of printed strings
    period: int = 12  # of the ring printer
    sizes: tuple[int, ...] = (8, 16, 32, 64)  # N of the permutation networks that are run
    together: tuple[int, ...] = (1, 2, 4, 8)  # permutations k that share a network
    doublings: int = 1000  # the figure shows the ratios up to N = 2^doublings; floats end at 1023
    tag_programs: int = 40  # random programs of the tag machine a seed
    tag_commands: int = 60  # that each of them is run for
    units: int = 4  # of the small networks
    most: int = 5  # weights of the small networks
    wider: int = 7  # the same with more weights; 13 million networks
    n_bits: int = 12  # that they print
    a_level: int = 7  # strings a level of complexity that networks are trained on
    trained_units: int = 6
    trained_runs: int = 4  # a string; the least norm counts
    trained_steps: int = 1000  # three times as many change no median norm by more than 3%
    learning_rate: float = 0.03
    decay: float = 1e-3  # the least that leaves nearly all strings learned
