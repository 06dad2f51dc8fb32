"""Every statement of *Beyond* says under which mask it holds: there are two, and they differ."""

import re

from tools.this_book import ROOT, claims

BOOK = ROOT / "book"
NAMED = re.compile(r"\b(?:strict|causal|either) mask\b", re.IGNORECASE)
STATED = re.compile(
    r"^(`{3,})\{prf:(?:theorem|lemma|proposition|conjecture)\}(.*?)^\1$", re.S | re.M
)
IN_BRIEF = re.compile(
    r"^:::\{admonition\} .*?^:::$|^\*\*(?:Integration|Derivation|Prediction)\*\*.*?$", re.S | re.M
)
NEW = re.compile(r"^## \d.*?(?=^## )", re.S | re.M)
ABOUT_MASKS = re.compile(r"^.*beyond/14_every_position\.md.*$", re.MULTILINE)


def statements() -> dict[str, str]:
    """The text of each statement, by where it stands."""
    result = {
        row.id: row.statement for row in claims().values() if row.chapter.startswith("beyond/")
    }
    for page in sorted((BOOK / "beyond").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        parts = [m[2] for m in STATED.finditer(text)]
        parts += IN_BRIEF.findall(text) if page.stem == "in_brief" else []
        result |= {f"{page.stem}, {part.strip()[:60]}": part for part in parts}
    new = (BOOK / "beyond" / "what_is_new.md").read_text(encoding="utf-8")
    result |= {f"what is new, {part.splitlines()[0]}": part for part in NEW.findall(new)}
    for page in (ROOT / "README.md", BOOK / "index.md", BOOK / "story.md"):
        for part in ABOUT_MASKS.findall(page.read_text(encoding="utf-8")):
            result[f"{page.stem}, {part[:60]}"] = part
    return result


def test_every_statement_names_its_mask() -> None:
    result = statements()
    assert len(result) > 100
    assert [name for name, text in result.items() if not NAMED.search(text)] == []


def test_every_chapter_names_its_mask() -> None:
    pages = sorted((BOOK / "beyond").glob("[0-9]*.md"))
    assert len(pages) >= 15
    unnamed = [page.stem for page in pages if not NAMED.search(page.read_text(encoding="utf-8"))]
    assert unnamed == []
