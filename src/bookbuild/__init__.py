"""Turn the chapters of the book into executed notebooks, a judged ledger and a site."""

from bookbuild.beacon import attach_from_environment
from bookbuild.reporting import report, show

__all__ = ["report", "show"]

attach_from_environment()
