"""Figure 4: the 19 pseudo-parameters and the loss, all weights free or three parameters."""

from emergence.experiments.captions import SMALL_DYNAMICS, dynamics
from emergence.preset import preset

PRESET = preset(paper=dynamics(16, 32, 400), smoke=SMALL_DYNAMICS)
