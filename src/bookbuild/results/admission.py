"""The checks that a published chapter must pass before it is used, and the cleaning of outputs.

An archive comes from a stranger. Its code cells must be those of this book, its outputs of the
kinds that chapters make, and nothing in them may act on a page.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import nbformat
import nh3
from lxml import etree, html
from nbformat import NotebookNode

from bookbuild.reporting.checks import Check
from bookbuild.reporting.measures import plain_measure
from bookbuild.reporting.notebook import FIGURE_NAME, FIGURES_FOLDER, KEY, MEASURES_FILE
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, tags

from .executed import NOTEBOOK_FILE, Entry
from .store import UNREADABLE, DamagedError, Stored

INJECTED = "injected-parameters"
GLUED = "application/papermill.record/"
KINDS = {"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png"}
SETTING = re.compile(r"[\w .,:;()=/^+*%'$\\-]{1,120}")
# in computed Markdown and LaTeX: HTML but for links within the book, directives, roles, templates,
# images and links to files, commands of MathJax that act
ACTIVE = re.compile(
    r"<(?!/a>|br>|[a-z]_|a href=['\"][\w./#-]+['\"]>)[a-z/!?]"
    r"|(?:```|~~~)[`~\s]*\{|:::|^\s*\.\. |\}`|\{\{|\{%|!\[|^[\s>]*\[[^\]]*\]:|javascript:|vbscript:"
    r"|\]\((?!#|https?://|[\w./-]+\.(?:md|html|ipynb)[#)])|\\(?:href|style|class|cssId|require)\b",
    re.IGNORECASE | re.MULTILINE,
)
SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {
    SVG + name
    for name in (
        "svg", "g", "defs", "use", "path", "rect", "line", "circle", "ellipse", "polyline",
        "polygon", "clipPath", "image", "text", "tspan", "title", "style", "metadata", "pattern",
        "linearGradient", "radialGradient", "stop", "marker", "mask",
    )
}  # fmt: skip
DESCRIBED = (
    "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}",
    "{http://creativecommons.org/ns#}",
    "{http://purl.org/dc/elements/1.1/}",
)
REFERENCE = re.compile(r"#[\w.-]+|data:image/png;base64,[\s\w+/=]*")
REACHES_OUT = re.compile(r"url\((?!\s*['\"]?#)|@import|expression\(|javascript:", re.IGNORECASE)
TAGS = nh3.ALLOWED_TAGS | {"details", "summary", "figure", "figcaption"}
ATTRIBUTES = {**nh3.ALLOWED_ATTRIBUTES, "*": {"class"}}
ATTRIBUTES["a"] = ATTRIBUTES.get("a", set()) | {"download"}


def admitted(stored: Stored, chapter: Chapter, settings: Settings) -> Entry:
    """Return the entry that a stranger's result is of a chapter.

    Raises DamagedError, with what is wrong, for a result that no execution of the chapter makes.
    """
    entry = Entry.of(stored)
    try:
        fault = next(_faults(entry, chapter, settings), None)
    except (*UNREADABLE, AttributeError, nbformat.ValidationError, etree.LxmlError) as error:
        raise DamagedError("is no executed chapter of this book") from error
    if fault:
        raise DamagedError(fault)
    return entry


def _faults(entry: Entry, chapter: Chapter, settings: Settings) -> Iterator[str]:
    """Yield what is wrong; the errors of a parser are left to the caller."""
    for name, content in entry.files.items():
        stem, _, suffix = name.removeprefix(f"{FIGURES_FOLDER}/").rpartition(".")
        drawn = name.startswith(FIGURES_FOLDER) and FIGURE_NAME.fullmatch(stem)
        if drawn and suffix == "svg":
            yield from (f"has a drawing {stem} that {fault}" for fault in svg_faults(content))
        elif drawn and suffix == "json":
            document = json.loads(content)
            arrays = {**document["data"]}  # TypeError unless it is a mapping
            {**document["settings"]}
            if not all(map(str.isprintable, arrays)) or any(map(_is_deep, arrays.values())):
                yield f"has data of a figure {stem} that no chapter writes"
        elif name not in (NOTEBOOK_FILE, MEASURES_FILE):
            yield f"holds a file {name!r:.60}, which no chapter makes"
    for key, measure in entry.measures.items():
        plain = plain_measure(key, measure["value"], measure["over"])
        names = plain if isinstance(plain, dict) else {}
        if not (KEY.fullmatch(key) and all(map(SETTING.fullmatch, names))):
            yield f"has a measure with another name than chapters give: {key!r:.60}"
        if "check" in measure:
            Check.of(measure, judged=False)  # ValueError for one that no chapter makes
        if plain != measure["value"] or not isinstance(measure["judged"], bool):
            yield f"has a measure {key} of another form than chapters report"
    notebook = entry.notebook
    nbformat.validate(notebook)
    parameters = chapter.placed(settings).parameters
    wanted = [cell.source for cell in chapter.code]
    found = [cell for cell in notebook.cells if cell.cell_type == "code"]
    injected = [cell for cell in found if INJECTED in tags(cell)]
    said = {"chapter": chapter.name, **parameters}
    if any(entry.origin.get(name) != value for name, value in said.items()):
        yield "says that it was made with other parameters"
    if not {"commit", "date", "versions", "seconds"} <= entry.origin.keys():
        yield "does not say where it was made"
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in parameters.items())
    if [cell.source for cell in found if cell not in injected] != wanted:
        yield "has other cells than the chapter"
    if [cell.source for cell in injected] != [f"# Parameters\n{''.join(lines)}"]:
        yield "was made with other parameters"
    for cell in found:
        yield from (fault for output in cell.outputs for fault in _output_faults(output))


def _output_faults(output: NotebookNode) -> Iterator[str]:
    """Yield what is wrong with an output of a cell."""
    if output.output_type == "stream":
        return
    if output.output_type not in ("display_data", "execute_result"):
        yield f"has an output of the kind {output.output_type!r:.40}"
        return
    glue = output.metadata.get("scrapbook")
    if output.metadata and (set(output.metadata) != {"scrapbook"} or glue["mime_prefix"] != GLUED):
        yield "has an output with instructions to the page"
    for kind, content in output.data.items():
        bare = kind.removeprefix(GLUED)
        if bare not in KINDS or not isinstance(content, str):
            yield f"has an output of the kind {kind!r:.60}"
        elif bare in ("text/markdown", "text/latex") and ACTIVE.search(content):
            yield "has an output with markup that could act on a page"
        elif bare == "text/html" and any(map(_acts, html.fromstring(f"<p>{content}</p>").iter())):
            yield "has an output with HTML that could act on a page"
        elif bare == "image/svg+xml":
            yield from (f"has a drawing that {fault}" for fault in svg_faults(content.encode()))


def _is_deep(value: Any, most: int = 16) -> bool:
    """Return whether an array has more dimensions than arrays have."""
    return isinstance(value, list) and (not most or any(_is_deep(x, most - 1) for x in value))


def _acts(element: html.HtmlElement) -> bool:
    """Return whether an element is more than text that can be looked at."""
    known = ATTRIBUTES.get(element.tag, set()) | ATTRIBUTES["*"]
    return element.tag not in TAGS or not known.issuperset(element.keys())


def svg_faults(content: bytes) -> Iterator[str]:
    """Yield what a drawing has that Matplotlib does not write; XMLSyntaxError where it is none."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    for element in etree.fromstring(content, parser).iter():
        tag = element.tag
        if tag is etree.Comment:
            continue
        if not isinstance(tag, str) or not (tag in DRAWN or tag.startswith(DESCRIBED)):
            yield f"holds {element.tag if isinstance(tag, str) else 'an instruction'!s:.60}"
            continue
        texts = [element.text or "" if tag == f"{SVG}style" else ""]
        for attribute, value in element.attrib.items():
            name = etree.QName(attribute).localname.lower()
            if name.startswith("on") or (name == "href" and not REFERENCE.fullmatch(value)):
                yield f"has an attribute {name} that could act on a page"
            texts.append(value)
        if any(map(REACHES_OUT.search, texts)) and not tag.startswith(DESCRIBED):
            yield "refers to something outside itself"


def sanitised(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook whose outputs can only be looked at: HTML cleaned, other markup escaped."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        data: Mapping[str, Any] = output.get("data", {})
        for kind, content in data.items():
            output.data[kind] = _clean(kind.removeprefix(GLUED), content)
    return notebook


def _clean(kind: str, content: Any) -> Any:
    if kind not in KINDS:
        return ""  # a script, or what a page would hand to one
    if kind == "text/html":
        cleaned = nh3.clean(content, tags=TAGS, attributes=ATTRIBUTES, link_rel=None)
        # after an empty line a page would read Markdown again
        return "\n".join(line for line in cleaned.splitlines() if line.strip())
    if kind == "text/markdown" and ACTIVE.search(content):
        return f"    {content!r}"  # set as code
    if kind == "image/svg+xml" and any(svg_faults(content.encode())):
        return ""
    return content
