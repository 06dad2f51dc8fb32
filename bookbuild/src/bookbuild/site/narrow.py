"""Drawings for phones: where a window is narrow, a page shows those that `show` drew for it."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bookbuild.reporting.notebook import FIGURES_FOLDER, FOR_PHONES
from bookbuild.results.executed import Entry

from .checks.pages import page_names

WINDOW = "screen and (max-width: 600px)"  # below it a page's column is too narrow for panels
IMAGE = re.compile(r'<img\b[^>]*\bsrc="([^"]+\.svg)"[^>]*>')
SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)pt" height="([\d.]+)pt"')
POINT = 4 / 3  # pixels


def add_narrow(site: Path, entries: Mapping[str, Entry]) -> None:
    """Offer the narrow drawing of each figure beside the wide one, on every page of a site.

    Both say how large they are, so that nothing moves when they arrive.
    """
    drawn = {
        _digest(content): f"{FIGURES_FOLDER}/{chapter}/{name.removesuffix('.svg')}{FOR_PHONES}.svg"
        for chapter, entry in entries.items()
        for name, content in entry.figures.items()
        if name.endswith(".svg") and not name.endswith(f"{FOR_PHONES}.svg")
    }
    find = cache(lambda path: drawn.get(_digest(path.read_bytes())) if path.is_file() else None)
    for name in page_names(site):
        page, up = site / name, "../" * name.count("/")

        def offer(image: re.Match[str], page: Path = page, up: str = up) -> str:
            wide = (page.parent / image[1]).resolve()
            narrow = find(wide)
            if narrow is None:
                return image[0]
            shown = image[0].replace("<img", f"<img {_size(wide)}", 1)
            source = f'<source media="{WINDOW}" srcset="{up}{narrow}" {_size(site / narrow)}>'
            return f"<picture>{source}{shown}</picture>"

        text = page.read_text(encoding="utf-8")
        page.write_text(IMAGE.sub(offer, text), encoding="utf-8")


def _digest(drawing: bytes) -> str:
    """Return the same for a drawing however its lines end; pages copy it without the last end."""
    return hashlib.sha256(b"\n".join(drawing.splitlines())).hexdigest()


def _size(path: Path) -> str:
    """Return the size of a drawing as attributes of its element, in pixels."""
    size = SIZE.search(path.read_text(encoding="utf-8"))
    assert size is not None
    width, height = (round(float(points) * POINT) for points in size.groups())
    return f'width="{width}" height="{height}"'
