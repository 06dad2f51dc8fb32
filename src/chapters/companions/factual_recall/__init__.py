"""Factual recall: a subject and a relation among noise, and the answer to be known by heart."""
