"""The Sphinx extension of the builder: the text, what stands around it, and words of the search.

A theorem is always visible, and its proof opens on a click. A table of zeros lists the remainder of
each step of a derivation: where all vanish, one sentence says so and opens the table; otherwise the
table is open, below a sentence that counts those that do not. Of a section with a label such as
`(details-controls)=` the first paragraph and what to take away are visible, and the rest opens on a
click. A formula that is one symbol of the glossary gets the class of its row, so that a preview can
explain it. Code such as `tasks.sample` leads to its entry in the reference.

A page loads the scripts that it needs and no others. Jupyter Book adds thebe's always, twice over,
and with an address of another server; the theme adds 1.5 MB of icons that its font has too, and the
search index to every page. The theme knows one branch and one file for all buttons: the executed
notebook on main, which is on no branch. Here Colab gets the published branch, Binder the notebook
that postBuild writes, and the edit button the Markdown source.

The search finds a symbol however it is written: `\\gamma_4`, γ₄ and gamma_4 are the word gamma4,
N^2 and N² are n2. A number makes a word with the one before it, so "layer 1" does not ask for all.
"""

import json
import re
import textwrap
import unicodedata
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish
from sphinx.util.nodes import make_refnode
from sphinx.writers.html5 import HTML5Translator
from sphinx_proof.nodes import proof_node

from bookbuild.source.addresses import Addresses
from bookbuild.source.book import names, read_book, read_citation
from bookbuild.source.chapters import BOOK

HEAD = ["step", "what is left"]
DETAILS = "details-"
THEOREM = "theorem"  # lemmas and the like are counted with theorems, see defaults.yml
GLOSSARY = "book/glossary"
ROW = re.compile(r"^\| (\$.*?) \| ", re.MULTILINE)
FORMULA = re.compile(r"\$([^$]+)\$")
SEPARATORS = re.compile(r",(?:\\[ ,])?|=|\\in\b|\\dots")
Context = dict[str, Any]
Doctree: TypeAlias = nodes.document | None
MOUNT = re.compile(r'data-explorable="([a-z]+)"')
THEBE = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>',
    re.DOTALL,
)
SEARCH = "search"
SCRIPTS = {"book/verdicts": "verdicts.js", SEARCH: "search.js"}
# scripts of the theme, and viewports after the first, which Sphinx's own layout writes
SPARE = re.compile(
    r"<script[^>]*/?(?:fontawesome|searchtools|language_data|searchindex)\.js[^>]*></script>"
    r'|<meta name="viewport"[^>]*>'
)
UNUSED = re.compile("thebe|mathjax", re.IGNORECASE)
LAUNCH_LABEL, EDIT_LABEL = "launch-buttons", "source-edit-button"

FINDING = "What we find."
LONGEST = 280  # characters of a description
HOME = f"{BOOK}/index"
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "π": "pi", "ρ": "rho",
    "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
LETTER = re.compile(f"[{''.join(GREEK)}]")
RAISED = re.compile(r"([A-Za-z])[_^]\{?(\d+)")  # and lowered
NUMBERED = re.compile(r"\b([A-Za-z]{3,})\s+(\d{1,2})\b")
QUESTION = {"do", "does", "how", "what", "when", "where", "which", "who", "why"}


class folded(nodes.General, nodes.Element):
    """Something under a line that opens it; `kind` is its class on the page."""


def visit(self: HTML5Translator, node: folded) -> None:
    """Open the fold."""
    is_open = " open" if node["open"] else ""
    self.body.append(
        f'<details class="{node["kind"]}"{is_open}><summary>{node["line"]}</summary>\n'
    )


def depart(self: HTML5Translator, node: folded) -> None:
    """Close the fold."""
    self.body.append("</details>\n")


def fold(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Fold proofs, without the word that sphinx-proof sets before them, zeros and details."""
    for node in list(doctree.findall(proof_node)):
        paragraph = next(iter(node.findall(nodes.paragraph)))
        paragraph[0] = nodes.Text(paragraph[0].astext().removeprefix("Proof. "))
        node.replace_self(folded("", *node[0], kind="proof-fold", line="Proof", open=False))
    for table in list(doctree.findall(nodes.table)):
        rows = [[cell.astext().strip() for cell in row] for row in table.findall(nodes.row)]
        if rows and rows[0] == HEAD:
            wrong = sum(value != "0" for _, value in rows[1:])
            steps = f"{len(rows) - 1} steps"
            line = f"{wrong} of {steps} do not vanish" if wrong else f"{steps}, all vanish"
            node = folded("", kind="zeros", line=line, open=wrong > 0)
            table.replace_self(node)
            node += table
    for section in list(doctree.findall(nodes.section)):
        if any(name.startswith(DETAILS) for name in section["ids"]):
            first = section.first_child_matching_class(nodes.paragraph) + 1
            shown = [child for child in section[first:] if "takeaway" in child["classes"]]
            rest = [child for child in section[first:] if child not in shown]
            node = folded("", *rest, kind="details-fold", line="Details", open=False)
            section[first:] = [node, *shown]


def symbols_in(text: str) -> dict[str, str]:
    """Return the class of each symbol of a glossary in Markdown, by its TeX without spaces."""
    symbols: dict[str, str] = {}
    for number, cell in enumerate(ROW.findall(text), start=1):
        for formula in FORMULA.findall(cell):
            for symbol in SEPARATORS.split(formula):
                symbols.setdefault(_plain(symbol), f"symbol-{number}")
    symbols.pop("", None)
    return symbols


def mark_symbols(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give every formula that is a symbol of the glossary its class."""
    glossary = Path(app.srcdir, f"{GLOSSARY}.md")
    folders = tuple(f"{BOOK}/{name}/" for name in read_book(Path(app.srcdir)).symbols)
    shares = page.startswith(folders or "") or page == GLOSSARY
    if not (shares and glossary.is_file()):
        return
    symbols = symbols_in(glossary.read_text(encoding="utf-8"))
    for node in doctree.findall(nodes.math):
        # the glossary's own cells may hold several symbols of one row
        parts = SEPARATORS.split(node.astext()) if page == GLOSSARY else [node.astext()]
        names = [symbols[part] for part in map(_plain, parts) if part in symbols]
        if names:
            node["classes"] += ["symbol", names[0]]


def settle_types(app: Sphinx, doctree: nodes.document) -> None:
    """Link types of signatures that have an entry, and no other ones; contents name no fields."""
    entries = {name.rpartition(".")[2] for name in app.env.domaindata["py"]["objects"]}
    for signature in doctree.findall(addnodes.desc_signature):
        for reference in list(signature.findall(addnodes.pending_xref)):
            name = reference["reftarget"].rpartition(".")[2]
            if name in entries:
                reference.attributes.update(reftarget=name, refspecific=True)
            else:
                reference.replace_self(reference.children)
    for entry in doctree.findall(addnodes.desc):
        if entry["objtype"] == "attribute":
            entry["no-contents-entry"] = True


def link_entries(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link code that is the name of an entry, outside of links and headings, to the entry."""
    package = read_book(Path(app.srcdir)).package
    entries = app.env.domaindata["py"]["objects"] if package else {}
    linked = {
        literal
        for kind in (nodes.reference, nodes.title)
        for outer in doctree.findall(kind)
        for literal in outer.findall(nodes.literal)
    }
    for literal in set(doctree.findall(nodes.literal)) - linked:
        name = literal.astext().removeprefix(f"{package}.")
        entry = entries.get(f"{package}.{name}") if "." in name else None
        if entry is None:
            continue
        link = make_refnode(app.builder, page, entry.docname, entry.node_id, literal.deepcopy())
        literal.replace_self(link)


def number_theorems(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give theorems the number of their chapter and their place on its page; name no outdated page.

    Sphinx counts through the whole book, so that a new chapter would change every number after it.
    """
    book = read_book(Path(app.srcdir))
    for page, numbers in env.toc_fignumbers.items():
        if chapter := book.chapter_number(page.removeprefix(f"{BOOK}/")):
            # Sphinx expects whole numbers here, and only prints them
            labels: dict[str, Any] = numbers.get(THEOREM, {})
            labels.update({label: (*chapter, n) for n, label in enumerate(labels, start=1)})
    return []


def _plain(symbol: str) -> str:
    return "".join(symbol.split())


def add_metadata(app: Sphinx, page: str, template: str, context: Context, doctree: Doctree) -> None:
    """Add the tags of a page; one without text, such as the search, or an address has none."""
    if doctree is None or not app.config.html_baseurl:
        return
    cited = read_citation(Path(app.srcdir))
    book, title = cited["title"], _one_line(context["title"])
    name = book if page == HOME else title
    url = f"{app.config.html_baseurl}{page}.html"
    tags = [
        ("description", description(doctree)),
        ("citation_title", name),
        *(("citation_author", who) for who in names(cited)),
        ("citation_publication_date", str(cited["date-released"]).replace("-", "/")),
        ("citation_public_url", url),
    ]
    if page != HOME:
        tags.insert(1, ("citation_inbook_title", book))
    lines = [f'<meta name="{key}" content="{escape(text)}" />' for key, text in tags if text]
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines])


def description(doctree: nodes.document) -> str:
    """Return what a page finds, or else its first paragraph, in whole sentences where they fit."""
    texts = [
        _one_line(node.astext())
        for node in doctree.findall(nodes.paragraph)
        if isinstance(node.parent, nodes.section)
    ]
    findings = [text.removeprefix(FINDING).strip() for text in texts if text.startswith(FINDING)]
    text = next(iter(findings or texts), "")
    sentences = text[:LONGEST].rpartition(". ")[0]
    is_cut = len(text) > LONGEST and sentences
    return f"{sentences}." if is_cut else textwrap.shorten(text, LONGEST, placeholder=" …")


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def add_scripts(app: Sphinx, page: str, template: str, context: Context, doctree: Doctree) -> None:
    """Give verdicts and search their scripts, and a page with an explorable its own."""
    if page in SCRIPTS:
        app.add_js_file(SCRIPTS[page], defer="defer")
    raw = doctree.findall(nodes.raw) if doctree else ()
    names = {name: None for node in raw for name in MOUNT.findall(node.astext())}  # each once
    for name in names:
        app.add_js_file(f"explorables/{name}.js", defer="defer")
    if names:
        app.add_css_file("explorables/explorables.css")


def without_spare(head: str) -> str:
    """A part of a page's head without what comes twice, or is of no use; for `layout.html`."""
    return SPARE.sub("", head)


def drop_unused(app: Sphinx, page: str, template: str, context: Context, doctree: Doctree) -> None:
    """Take out thebe, second viewports, and MathJax, which sets formulas when the site is built.

    Sources become items of the list that they stand in.
    """
    for kind in ("script_files", "css_files"):
        files = [(file, f"{file} {getattr(file, 'attributes', {})}") for file in context[kind]]
        context[kind] = [file for file, described in files if not UNUSED.search(described)]
    body = THEBE.sub("", context.get("body", ""))
    context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')
    context["metatags"] = without_spare(context.get("metatags", ""))
    context[without_spare.__name__] = without_spare


def redirect(app: Sphinx, page: str, template: str, context: Context, doctree: object) -> None:
    """Replace the address of each launch and edit button; raise KeyError for an unknown launch."""
    if not app.config.html_theme_options.get("repository_url"):  # there are no buttons
        return
    addresses = Addresses.read(Path(app.srcdir))
    name = page.removeprefix(f"{BOOK}/")
    launches = {"Colab": addresses.colab, "Binder": addresses.binder}
    for button in context.get("header_buttons", []):
        if button.get("label") == LAUNCH_LABEL:  # a group, which the theme adds to executed pages
            for launch in button["buttons"]:
                launch["url"] = launches[launch["text"]](name)
        elif button.get("label") == EDIT_LABEL:
            button.update(url=addresses.edit(name), tooltip="Edit this page")


class English(SearchEnglish):
    """English with the words of formulas; a query is split as the index was."""

    stopwords = SearchEnglish.stopwords | QUESTION
    js_splitter_code = f"""
const GREEK = {json.dumps(GREEK)};
var splitQuery = (query) => query.normalize("NFKC")
  .replace(/{LETTER.pattern}/g, (letter) => GREEK[letter])
  .replace(/{RAISED.pattern}/g, "$1$2")
  .replace(/{NUMBERED.pattern}/g, "$1$2")
  .split(/[^\\p{{Letter}}\\p{{Number}}_]+/u).filter((word) => word);
"""

    def split(self, input: str) -> list[str]:
        """Return the words of a text, those of its formulas among them."""
        text = unicodedata.normalize("NFKC", input)
        text = LETTER.sub(lambda letter: GREEK[letter[0]], text)
        text = NUMBERED.sub(r"\1 \1\2", RAISED.sub(r"\1\2", text))
        return super().split(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all; what takes out comes after what puts in."""
    app.add_node(folded, html=(visit, depart))
    app.add_search_language(English)
    app.connect("doctree-read", settle_types, priority=400)  # before Sphinx collects the contents
    for function in (fold, mark_symbols, link_entries):
        app.connect("doctree-resolved", function)
    app.connect("env-get-updated", number_theorems, priority=900)  # after Sphinx's own numbers
    app.connect("html-page-context", add_metadata)
    app.connect("html-page-context", add_scripts, priority=800)
    app.connect("html-page-context", drop_unused, priority=900)
    app.connect("html-page-context", redirect, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
