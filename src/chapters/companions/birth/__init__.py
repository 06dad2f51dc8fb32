"""Birth of a transformer: a head that learns bigrams in context (Bietti et al. 2023)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Simplified:
    """The task, network and descent; the source's values except where a comment says otherwise."""

    length: int = 128  # T; the source's 256, and its d and batch, outrun the budget
    dim: int = 128  # d, the source's 256
    batch_size: int = 64  # the source's 512
    n_triggers: int = 5  # k
    random_triggers: bool = False  # each sequence draws its own; else the most frequent characters
    released: tuple[int, int, int] = (0, 0, 0)  # steps from which W_OV^2, W_KQ^2, W_KQ^1 move
    steps: int = 1000
    learning_rate: float = 0.03
    momentum: float = 0.9
    weight_decay: float = 1e-4
    every: int = 5  # steps between probes


@dataclass(frozen=True)
class Settings(Simplified):
    """A training of the chapter, and the sequences that measure it."""

    n_tested: int = 512  # fresh sequences after training, as many as a batch of the source
    n_counted: int = 1000  # sequences for the baselines; ours
    source_length: int = 256  # at which guesses are counted as well
