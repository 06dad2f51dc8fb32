"""Settings that the paper does not give for Figure 4, besides those of all of §4."""

from emergence.experiments.silences import Silence

HORIZON = Silence(
    "steps",
    "Neither the captions of Figs. 4, 15 and 16 nor their text give a number of steps.",
    {f"{times:g} times the fall": times for times in (1.5, 2.0, 4.0)},  # of the time to half loss
)
THRESHOLDS = Silence(
    "level",
    "Definition 1 is for inputs of norm 1; App. D reads a pseudo-parameter off without a unit.",
    {"weights": "weights", "scores": "scores", "half of the end": "end"},
)
