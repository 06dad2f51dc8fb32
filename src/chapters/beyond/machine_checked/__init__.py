"""Theorem 2 in Coq: what the proofs state, and what they rest on."""
