"""Build system of the book: executed chapters, a judged ledger, a site, and notebooks."""

from .reporting.progress import attach_from_environment
from .reporting.report import report, show

__all__ = ["report", "show"]

attach_from_environment()
