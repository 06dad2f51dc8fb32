"""One training step of each network, dense or fast, as a function without arguments."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch.nn.functional import cross_entropy

from emergence import tasks, training
from emergence.models import AttentionOnlyTransformer
from emergence.running import devices
from emergence.training.settings import Method, TokenTraining

Step = Callable[[], object]
LEARNING_RATE = 1e-3  # the weights stay as drawn


class Case(Protocol):
    """A training step at one size."""

    @property
    def name(self) -> str: ...

    def step(self, method: Method, device: torch.device) -> Step: ...

    def array_bytes(self) -> int: ...


@dataclass(frozen=True)
class Section2:
    """The attention-only transformer: loss at the query, backward, AdamW."""

    dim: int

    @property
    def name(self) -> str:
        return f"§2, D = {self.dim}"

    def step(self, method: Method, device: torch.device) -> Step:
        settings = TokenTraining(dim=self.dim)
        stream = devices.generator(0, device)
        model = AttentionOnlyTransformer(
            settings.dim, settings.vocabulary, settings.block_size,
            embedding_scale=settings.embedding_scale, generator=stream,
        )  # fmt: skip
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay,
            fused=True,
        )  # fmt: skip

        def step() -> None:  # a batch of its own: one learnt by heart leaves denormal gradients
            batch = tasks.token_pairs(
                settings.batch_size, settings.n_pairs, settings.vocabulary, settings.block_size,
                generator=stream,
            )  # fmt: skip
            logits = training.query_logits(model, batch, settings.mask, method)
            loss = cross_entropy(logits, batch.target)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

        return step

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

    def step(self, method: Method, device: torch.device) -> Step:
        stream = devices.generator(0, device)
        batch = self.sample(stream)
        weights = [
            (0.05 * torch.randn(1, *shape, generator=stream, device=device)).requires_grad_()
            for shape in (
                (2 * self.dim, 2 * self.dim), (4 * self.dim, 4 * self.dim), (8 * self.dim, self.dim)
            )
        ]  # fmt: skip
        inputs, target = batch.inputs[None], batch.target[None]

        def step() -> None:
            output = training.OUTPUTS[method](training.Weights(*weights), inputs)
            gradient = torch.autograd.grad((output - target).square().mean(), weights)
            with torch.no_grad():
                for weight, slope in zip(weights, gradient, strict=True):
                    weight -= LEARNING_RATE * slope

        return step

    def sample(self, stream: torch.Generator) -> tasks.Batch:
        """The batch of a step, which both methods share."""
        return tasks.gaussian_pairs(
            self.batch_size, self.n_pairs, self.dim, generator=stream, dtype=torch.float32
        )

    def array_bytes(self) -> int:
        """The inputs read forward and backward; layer 1's attention and its gradient, each
        written once and read once."""
        length = 2 * self.n_pairs + 1
        return 4 * self.batch_size * (2 * length * 2 * self.dim + 4 * length**2)
