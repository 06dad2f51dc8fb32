"""A preprint as PDF: what is new, the results in brief and what they cite, from the built site.

    python -m tools.preprint [profile]

Its numbers and theorems are those of the pages. Chromium prints it, with their style for print.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from bookbuild.errors import BookError
from bookbuild.settings import BuildSettings
from bookbuild.source.book import names, read_citation

from .this_book import ROOT

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Root in a container cannot have a sandbox; the pages opened are our own.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
PAGES = ("book/beyond/what_is_new.html", "book/beyond/in_brief.html")
REFERENCES = "book/bibliography.html"
# the theme's own title for print, and what is for the site alone
LEFT_OUT = """#jb-print-docs-body, .headerlink, .cite.admonition, #how-to-cite,
    section:has(> h2:-soup-contains("Laws of others"))"""
STYLE = """@page { margin: 12mm } .bd-article.preprint { font-size: 9pt }
    .preprint > .title { font-size: 17pt; font-weight: 600; margin-bottom: 0 }"""


def program() -> str | None:
    """Return the path of a Chromium of this machine, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def joined(site: Path, title: str, authors: str) -> str:
    """Return one page with a title, the articles of all pages, and the works that they cite.

    Args:
        site: the folder of the built site.
        title: of the preprint.
        authors: the line below it.

    Raises:
        BookError: if the site is not built.
    """
    if not all((site / page).is_file() for page in (*PAGES, REFERENCES)):
        raise BookError("The preprint is printed from the built site: run make reproduce first.")
    first, *others = (_soup(site / page) for page in PAGES)
    article = _article(first)
    for page in others:
        article.extend(list(_article(page).children))
    links = article.select("a[href*='bibliography.html#']")
    cited = {str(link["href"]).partition("#")[2] for link in links}
    works = [
        item
        for item in _article(_soup(site / REFERENCES)).select("div.citation[id]")
        if cited & {item["id"], *(mark.get("id", "") for mark in item.select("[id]"))}
    ]
    article.append(first.new_tag("h2", string="References"))
    article.extend(works)
    for part in first.select(LEFT_OUT):
        part.decompose()
    article["class"] = "bd-article preprint"
    for text, kind in ((authors, "authors"), (title, "title")):
        article.insert(0, first.new_tag("p", attrs={"class": kind}, string=text))
    if first.head is not None:
        first.head.append(first.new_tag("style", string=STYLE))
    return str(first)


def main(profile: str = "paper") -> None:
    """Write the preprint; end with one sentence where the site or Chromium is missing."""
    settings, cited = BuildSettings(root=ROOT, profile=profile), read_citation(ROOT)
    browser, target = program(), settings.build / "release" / "preprint.pdf"
    if browser is None:
        raise BookError("The preprint is printed by Chromium, which this machine does not have.")
    authors = f"{'; '.join(names(cited))}, version {cited['version']}, {cited['date-released']}"
    page = settings.site / PAGES[0].replace("what_is_new", "preprint")
    text = joined(settings.site, f"{cited['title']}: what is new", authors)
    target.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    try:
        subprocess.run(
            [browser, "--headless", *FLAGS, "--no-pdf-header-footer", "--virtual-time-budget=60000",
             f"--print-to-pdf={target}", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip
    finally:
        page.unlink()
    print(f"The preprint is {target.relative_to(ROOT)}.")


def _soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "lxml")


def _article(page: BeautifulSoup) -> Tag:
    """Return the article of a page."""
    article = page.find("article")
    assert isinstance(article, Tag)
    return article


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BookError as error:
        sys.exit(str(error))
