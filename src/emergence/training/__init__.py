"""Training of both networks: full or constrained weights, several seeds at once, records."""

from ._files import Run, load, save
from ._minimal import (
    SAMPLERS,
    MinimalRecord,
    gradient_samples,
    minimal_step,
    stacked_batches,
    train_minimal,
)
from ._networks import OUTPUTS, Constrained, Full, Network
from ._predicted import Prediction, predict_minimal
from ._prefixes import AskedQueries, Kind, draw_queries, prefix_output
from ._settings import Data, Method, MinimalTraining, Optimiser, Reader, Start, TokenTraining
from ._transformer import (
    TokenRecord,
    initial_transformer,
    query_logits,
    token_optimiser,
    token_step,
    train_tokens,
)

__all__ = [
    "OUTPUTS",
    "SAMPLERS",
    "AskedQueries",
    "Constrained",
    "Data",
    "Full",
    "Kind",
    "Method",
    "MinimalRecord",
    "MinimalTraining",
    "Network",
    "Optimiser",
    "Prediction",
    "Reader",
    "Run",
    "Start",
    "TokenRecord",
    "TokenTraining",
    "draw_queries",
    "gradient_samples",
    "initial_transformer",
    "load",
    "minimal_step",
    "predict_minimal",
    "prefix_output",
    "query_logits",
    "save",
    "stacked_batches",
    "token_optimiser",
    "token_step",
    "train_minimal",
    "train_tokens",
]
