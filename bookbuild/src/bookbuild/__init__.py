"""Build system of the book: executed chapters, a judged ledger, a site, and notebooks."""

from .reporting.notebook import check, enter_root, report, show
from .reporting.progress import attach_from_environment

__all__ = ["check", "report", "show"]

attach_from_environment()
enter_root()
