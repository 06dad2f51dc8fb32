"""Settings of the weight-norm chapter. All sizes are ours: only an abstract is known."""

from dataclasses import dataclass

from emergence.preset import Preset


@dataclass(frozen=True)
class Settings:
    """Lengths of strings and programs, sizes of permutations, and which small networks."""

    lengths: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024)  # of printed strings
    period: int = 12  # of the ring printer
    program_bits: int = 20  # of the Rule 110 machine
    n_rows: int = 200  # of Rule 110 that are compared
    sizes: tuple[int, ...] = (8, 16, 32, 64)  # N of the permutation networks that are run
    together: tuple[int, ...] = (1, 2, 4, 8)  # permutations k that share a network
    doublings: int = 1000  # the ratios are computed up to N = 2^doublings; floats end at 1023
    units: int = 4  # of the small networks
    most: int = 5  # weights of the small networks
    wider: int = 7  # the same with more weights; 13 million networks
    n_bits: int = 12  # that they print
    real_bits: int = 2000  # that one real weight holds
    precisions: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256, 512, 1024)


PRESET = {
    "paper": Preset(Settings()),
    "smoke": Preset(
        Settings(
            lengths=(8, 16, 32, 64),
            n_rows=40,
            sizes=(4, 8),
            together=(1, 2),
            wider=5,
            real_bits=200,
            precisions=(4, 16, 64),
        ),
        2,
    ),
}
