"""Training of both networks: full or constrained weights, several seeds at once, records."""

from ._files import Run, load, save
from ._minimal import (
    OUTPUTS,
    SAMPLERS,
    AskedQueries,
    Constrained,
    Full,
    Kind,
    MinimalRecord,
    Network,
    draw_queries,
    gradient_samples,
    minimal_step,
    prefix_output,
    stacked_batches,
    train_minimal,
)
from ._predicted import Prediction, predict_minimal
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
