"""The networks of `models`, computed exactly at a fraction of the cost (chapter Cost)."""

from ._attention_only import attention_only_logits, key_query_products
from ._disentangled import disentangled_gradient, disentangled_output, induction_head_output

__all__ = [
    "attention_only_logits",
    "disentangled_gradient",
    "disentangled_output",
    "induction_head_output",
    "key_query_products",
]
