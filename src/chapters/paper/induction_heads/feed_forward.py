"""The transformer of §2 with the MLPs that the paper leaves out, after each attention layer."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from emergence.models import AttentionOnlyTransformer
from emergence.presets import preset
from emergence.running.devices import generator
from emergence.training import TokenTraining, train_tokens

HIDDEN = 4  # hidden units of an MLP over the width D, as in Vaswani et al.
OWN_SEED = 20_000  # of the MLPs' weights, so that all else is the same with and without them


@dataclass(frozen=True)
class MLPRun:
    """A training of §2 from one seed, with MLPs or without."""

    settings: TokenTraining
    seed: int
    mlp: bool
    device: str = "cpu"


class MLPTransformer(AttentionOnlyTransformer):
    """The transformer of §2 with an MLP of one ReLU layer after each attention layer.

    Its linear maps and biases start at PyTorch's default, U(-1/sqrt(n), 1/sqrt(n)) for n inputs.
    """

    def __init__(self, settings: TokenTraining, stream: torch.Generator) -> None:
        dim, device = settings.dim, stream.device
        super().__init__(
            dim, settings.vocabulary, settings.block_size,
            embedding_scale=settings.embedding_scale, maps=settings.maps, scaled=settings.scaled,
            generator=stream,
        )  # fmt: skip
        own_stream = generator(OWN_SEED + stream.initial_seed(), device)

        def uniform(inputs: int, *shape: int) -> nn.Parameter:
            unit = torch.rand(*shape, generator=own_stream, device=device)
            return nn.Parameter((2 * unit - 1) * inputs**-0.5)

        hidden = HIDDEN * dim
        self.W_in = nn.ParameterList(uniform(dim, hidden, dim) for _ in range(2))
        self.b_in = nn.ParameterList(uniform(dim, hidden) for _ in range(2))
        self.W_out = nn.ParameterList(uniform(hidden, dim, hidden) for _ in range(2))
        self.b_out = nn.ParameterList(uniform(hidden, dim) for _ in range(2))

    def layer(
        self, layer: int, stream: Float[Tensor, "batch length dim"], allowed: Tensor
    ) -> Float[Tensor, "batch length dim"]:
        stream = super().layer(layer, stream, allowed)
        hidden = torch.relu(stream @ self.W_in[layer].T + self.b_in[layer])
        return stream + hidden @ self.W_out[layer].T + self.b_out[layer]


@dataclass(frozen=True)
class MLPs:
    """Builds the transformer of §2 with MLPs, for a training."""

    def __call__(self, settings: TokenTraining, stream: torch.Generator) -> MLPTransformer:
        return MLPTransformer(settings, stream)


def train_mlp(run: MLPRun) -> dict[str, Any]:
    """Loss and accuracy at each step, token by token; a run of a sweep.

    With and without MLPs a seed has the same sequences and the same other initial weights.
    """
    record = train_tokens(
        run.settings, run.seed, device=torch.device(run.device), method="dense",
        build=MLPs() if run.mlp else None,
        label=f"MLP {'with' if run.mlp else 'without'}, seed {run.seed}",
    )  # fmt: skip
    return {"loss": record.loss.numpy(), "accuracy": record.accuracy.numpy()}


# Without the subspace of §2.2 every token costs, so the width is smaller than the paper's. The rate
# grows, for AdamW moves a product of matrices by about rate times width; the embeddings keep their
# norm of about 2.3. Six times as many steps as the model without MLPs needs for half of ln N.
PRESET = preset(
    paper=TokenTraining(
        dim=128, batch_size=128, steps=600, learning_rate=4e-3, embedding_scale=0.2,
    ),
    smoke=TokenTraining(
        dim=32, vocabulary=8, block_size=8, n_pairs=2, batch_size=32, steps=60,
        learning_rate=1e-2, embedding_scale=0.5,
    ),
)  # fmt: skip
