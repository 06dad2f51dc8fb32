"""The clock of a corpus: texts, a language model, its trainings and what is counted before them."""

from dataclasses import dataclass

from emergence.presets import preset


@dataclass(frozen=True)
class ClockOfACorpus:
    """Sizes of what the page counts itself.

    Attributes:
        tokens: of the made-up texts of the frontier.
        windows: of each that are counted.
        frequencies: chances that a token is drawn from the last ones.
        reliabilities: chances that a known token is followed as before.
    """

    tokens: int = 2**18
    windows: int = 512
    frequencies: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8)
    reliabilities: tuple[float, ...] = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


PRESET = preset(
    paper=ClockOfACorpus(),
    smoke=ClockOfACorpus(
        tokens=2**14, windows=32, frequencies=(0.0, 0.5), reliabilities=(0.2, 0.5, 0.8)
    ),
)
