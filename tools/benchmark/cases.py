"""One training step of each network, dense or fast, as a function without arguments."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from chapters.paper import induction_heads
from emergence import tasks
from emergence.presets import choose
from emergence.running.devices import generator
from emergence.training import (
    Full,
    Method,
    MinimalTraining,
    TokenTraining,
    initial_transformer,
    minimal_step,
    token_optimiser,
    token_step,
)

Step = Callable[[], object]
CPU = torch.device("cpu")  # `tools.gpu_check` times what a GPU replays
LEARNING_RATE = 1e-3  # the weights stay as drawn


@dataclass(frozen=True)
class Section2:
    """The attention-only transformer: loss at the query, backward, AdamW."""

    dim: int

    @property
    def name(self) -> str:
        return f"§2, D = {self.dim}"

    def step(self, method: Method) -> Step:
        settings = TokenTraining(dim=self.dim)
        stream = generator(0, CPU)
        model = initial_transformer(settings, stream)
        optimiser = token_optimiser(settings, model)
        # a batch of its own each time: one learned by heart leaves denormal gradients
        return lambda: token_step(settings, model, optimiser, stream, method)

    def array_bytes(self) -> int:
        """AdamW reads weights, gradients and two moments, and writes all but the gradients."""
        settings = TokenTraining(dim=self.dim)
        columns = 2 * settings.vocabulary + settings.block_size
        return 7 * 4 * (8 * self.dim**2 + columns * self.dim)


@dataclass(frozen=True)
class Section4:
    """The disentangled transformer: mean squared error, its gradient, descent, on a given batch."""

    n_pairs: int
    dim: int
    batch_size: int

    @property
    def name(self) -> str:
        return f"§4, N = {self.n_pairs}, D = {self.dim}, B = {self.batch_size}"

    def step(self, method: Method) -> Step:
        stream = generator(0, CPU)
        batch = tasks.gaussian_pairs(
            self.batch_size, self.n_pairs, self.dim, generator=stream, dtype=torch.float32
        )
        settings = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, 1, LEARNING_RATE, initial_scale=0.05
        )
        network = Full(settings, method)
        weights = network.start([stream], torch.float32)
        inputs, target = batch.inputs[None], batch.target[None]

        def step() -> None:
            _, gradient = minimal_step(network, weights, inputs, target)
            network.descend(weights, gradient)

        return step

    def array_bytes(self) -> int:
        """The inputs read forward and backward; layer 1's attention and its gradient, each
        written once and read once."""
        length = 2 * self.n_pairs + 1
        return 4 * self.batch_size * (2 * length * 2 * self.dim + 4 * length**2)


Case = Section2 | Section4


def section2_steps() -> int:
    """The steps that the chapter on §2 takes in all its settings, at the paper's sizes."""
    preset, grid = (choose(one, "paper") for one in (induction_heads.PRESET, induction_heads.GRID))
    runs = induction_heads.planned(preset, grid.settings, 0, CPU)
    return sum(run.settings.steps for planned in runs.values() for run in planned)
