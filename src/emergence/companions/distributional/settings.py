"""Settings of the chapter on distributional associations, in both profiles."""

from dataclasses import dataclass, replace

from emergence.preset import Preset


@dataclass(frozen=True)
class Settings:
    """Toy, task, network and descent; sizes are ours, chosen for two CPU cores."""

    alpha: float = 0.5  # probability of the noise token after the trigger, the source's
    shares: tuple[float, ...] = (0.0, 0.1, 0.2)  # rho, singular values kept
    counts: tuple[int, ...] = (0, 1, 2, 4, 8, 16, 32, 64)  # singular values kept, or dropped
    toy_tokens: tuple[int, ...] = (256, 512, 1024, 2048, 4096)  # N
    toy_length: int = 8  # T, fixed while N grows
    toy_trials: int = 1000  # fresh samples and test sequences for each N
    certainty: float = 0.9  # how often the margin must be positive
    length: int = 64  # T
    dim: int = 128  # d, about twice the vocabulary, so that random embeddings are told apart
    width: int = 256  # of the feed-forward layers
    batch_size: int = 64
    steps: int = 700  # the loss has been flat for a while
    learning_rate: float = 0.03  # this and the next two as in `birth`
    momentum: float = 0.9
    weight_decay: float = 1e-4
    every: int = 50  # steps between measurements
    n_tested: int = 256  # fresh sequences


PRESET = {
    "paper": Preset(Settings()),
    "smoke": Preset(
        replace(
            Settings(),
            counts=(0, 1, 2, 4, 8),
            toy_tokens=(64, 128, 256),
            toy_length=4,
            toy_trials=200,
            length=24,
            dim=32,
            width=32,
            batch_size=16,
            steps=40,
            every=20,
            n_tested=32,
        ),
        2,
    ),
}
