"""The templates beside this module, which Jinja fills in; it escapes what is not marked as safe."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

CLAIMS = "claims"  # the folder of the claims' lasting addresses
FOLDER = Path(__file__).parent
TEMPLATES = Environment(
    autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def render(template: str, folder: Path = FOLDER, /, **given: Any) -> str:
    """Return a template of a folder filled in; raise jinja2.UndefinedError for what is missing."""
    return _of(folder).get_template(template).render(given) + "\n"


@cache
def _of(folder: Path) -> Environment:
    return TEMPLATES.overlay(loader=FileSystemLoader(folder))


def measure_anchor(key: str) -> str:
    """Return the anchor of the cell that measured something."""
    return f"measure-{key}"


def slug(verdict: str) -> str:
    """Return a verdict as it stands in classes and addresses."""
    return verdict.replace(" ", "-")


def claim_address(name: str) -> str:
    """Return the lasting address of a claim, by its id, seen from the top of the site."""
    return f"{CLAIMS}/{name}.html"


TEMPLATES.filters |= {"anchor": measure_anchor, "slug": slug, "address": claim_address}
