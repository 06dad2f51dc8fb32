"""A content-security policy on every page: the site's own files, and no script but its own.

Sphinx and its theme write a few scripts and two handlers into the pages, all of them above the
article; the policy names each by its hash. What stands from there on comes from chapters and their
outputs: no script in it is named, and so none runs. Styles may stand in the text, for MathJax sets
formulas with them.
"""

import base64
import hashlib
import html
import re
from collections.abc import Set
from pathlib import Path

INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
HANDLER = re.compile(r'<[a-z][^>]*?\son[a-z]+="([^"]*)"')
ARTICLE = "<article"
FIRST = re.compile(r"<head>\s*<meta charset=[^>]*>")
RULES = (
    "default-src 'none'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
)


def content_policy(page: str, handlers: Set[str]) -> str:
    """Return the policy of a page: a hash for each script above its article, and each handler."""
    hashes = sorted(map(_hash, {*INLINE.findall(_frame(page)), *handlers}))
    allowed = ["'self'", *(["'unsafe-hashes'"] if handlers else []), *hashes]
    return "; ".join((*RULES, f"script-src {' '.join(allowed)}"))


def add_policies(site: Path) -> None:
    """Write its policy into the head of every page, before all scripts.

    Handlers are those of all pages, because the search reads other pages for its excerpts.
    """
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    handlers = {
        html.unescape(text) for page in pages.values() for text in HANDLER.findall(_frame(page))
    }
    for path, page in pages.items():
        first = FIRST.search(page)
        if first:  # else the page only leads on to another one
            allowed = content_policy(page, handlers)
            meta = f'<meta http-equiv="Content-Security-Policy" content="{allowed}">'
            page = f"{page[: first.end()]}\n{meta}{page[first.end() :]}"
            path.write_text(page, encoding="utf-8")


def _frame(page: str) -> str:
    """Return the part of a page that Sphinx and its theme write before anything of a chapter."""
    return page.partition(ARTICLE)[0]


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
