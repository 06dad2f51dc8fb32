"""Training of both networks: full or constrained weights, several seeds at once, records.

A run that is interrupted goes on, to the same bits, where whoever runs it attaches a cache.
"""

from .closed_form import train_closed
from .minimal import MinimalRecord, gradient_samples, train_minimal
from .predicted import Prediction, predict_minimal
from .settings import Data, Method, MinimalTraining, Optimiser, TokenTraining
from .transformer import TokenRecord, query_logits, train_tokens

__all__ = [
    "Data",
    "Method",
    "MinimalRecord",
    "MinimalTraining",
    "Optimiser",
    "Prediction",
    "TokenRecord",
    "TokenTraining",
    "gradient_samples",
    "predict_minimal",
    "query_logits",
    "train_closed",
    "train_minimal",
    "train_tokens",
]
