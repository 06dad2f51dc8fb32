"""Turn the chapters of the book into executed notebooks, a judged ledger and a site."""

from .reporting.progress import attach_from_environment
from .reporting.report import report, show

__all__ = ["report", "show"]

attach_from_environment()
