"""The sizes at which the bigram task is run."""

from dataclasses import dataclass, replace

from ...preset import Preset


@dataclass(frozen=True)
class Settings:
    """Task, network and descent; the source's values except where a comment says otherwise."""

    length: int = 128  # T: the source's 256, and its 512 sequences, outrun the budget
    dim: int = 128  # d, the source's 256
    batch_size: int = 64
    n_triggers: int = 5  # k
    steps: int = 1000
    learning_rate: float = 0.03
    momentum: float = 0.9
    weight_decay: float = 1e-4
    every: int = 5  # steps between probes
    n_tested: int = 512  # fresh sequences after training, as many as a batch of the source
    n_counted: int = 2000  # sequences for the baselines; ours
    few_tokens: int = 6  # N of the enumerated task; ours
    few_positions: int = 8  # T of the enumerated task; ours


# The source's sizes, and what is affordable of them: some steps, to measure their cost.
SOURCE = replace(Settings(), length=256, dim=256, batch_size=512, steps=2)

PRESET = {
    "paper": Preset(Settings()),
    "smoke": Preset(
        replace(
            Settings(),
            length=32,
            dim=64,
            batch_size=16,
            steps=40,
            n_tested=32,
            n_counted=100,
            few_tokens=4,
            few_positions=6,
        ),
        2,
    ),
}
