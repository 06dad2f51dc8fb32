"""Reading: previews of what a link leads to, folds that say what is in them, type of one size."""

import re

import pytest

from browser import UNFOLD

AREA, PAPER = "book/beyond/11_area_law.html", "book/paper/06_full_dynamics.html"


def test_focus_shows_and_escape_hides(page):
    seen = page(AREA)
    link = seen.locator("article a.reference[href^='#equation-']").first
    seen.keyboard.press("Tab")  # so that focus is the keyboard's
    link.focus()
    preview = seen.wait_for_selector("#preview")
    assert link.get_attribute("aria-describedby") == "preview"
    assert preview.get_attribute("role") == "tooltip"
    assert seen.locator("#preview [id], #preview a").count() == 0
    seen.keyboard.press("Escape")
    seen.wait_for_selector("#preview", state="hidden")
    assert link.get_attribute("aria-describedby") is None


@pytest.mark.parametrize(
    ("kind", "what"), [("proof", ".proof"), ("citation", ".citation"), ("figure", "figure img")]
)
def test_proofs_sources_and_figures_of_other_pages_are_shown(page, site, kind, what):
    link, name = linked_elsewhere(site, kind)
    seen = page(name)
    seen.evaluate(UNFOLD)
    seen.locator(f"article a[href='{link}']").first.hover()
    seen.wait_for_selector(f"#preview {what}")


def test_a_symbol_of_the_glossary_is_explained(page):
    seen = page(PAPER)
    seen.locator("article .symbol mjx-container").first.hover()
    seen.wait_for_selector("#preview .symbol-card")


def linked_elsewhere(site, kind):
    """A link of some page to something of a kind on another page, and the first page's name."""
    pages = {p: p.read_text(encoding="utf-8") for p in sorted((site / "book").rglob("*.html"))}
    for path, text in pages.items():
        for link in re.findall(r'<a class="reference internal" href="([^"#]+\.html#[^"]+)"', text):
            address, _, anchor = link.partition("#")
            target = (path.parent / address).resolve()
            tag = re.search(rf'<[^>]* id="{re.escape(anchor)}"[^>]*>', pages.get(target, ""))
            # the tag's name or one of its classes
            if tag and re.search(rf'(<|class="|class="[^"]* ){kind}[ ">]', tag[0]):
                return link, path.relative_to(site).as_posix()
    pytest.fail(f"no page links to a {kind} on another one")
