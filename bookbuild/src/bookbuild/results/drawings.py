"""The one serialiser of drawings: of what Matplotlib has written it keeps what draws.

A page that shows a drawing forbids it to act. A drawing that is opened by itself has no such
policy, so nothing is left in it that could act: neither a document type, instruction or comment,
nor an element or attribute that is not listed here.
"""

import re

from lxml import etree

from bookbuild.errors import BookError

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"
PLAIN = re.compile(r"[\w\s#.,()%+-]*")  # no address but one within the drawing
SHEET = re.compile(r"\s*\*\{[\w:; -]*\}\s*")  # how lines join and end
PECULIAR = {
    "type": re.compile("text/css"),
    "style": re.compile(r"([\w-]+: ?([\w #.,%()-]+|'[\w -]+')(; ?|$))*"),
    HREF: re.compile(r"#[\w.-]+|data:image/png;base64,[\s\w+/=]*"),
}
ATTRIBUTES = re.compile(
    r"id|d|transform|clip-path|mask|viewBox|version|patternUnits|fill|stroke(-[a-z]+)?|"
    r"width|height|[xy][12]?"
)
DRAWN = {"svg", "g", "defs", "style", "path", "use", "clipPath", "rect", "image", "pattern", "mask"}


def serialised(content: str | bytes) -> bytes:
    """Return a drawing with nothing in it but what draws; BookError for one with anything else."""
    raw = content.encode() if isinstance(content, str) else content
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as error:
        raise BookError(f"A drawing is no SVG: {error.msg}.") from error
    etree.strip_elements(root, f"{{{SVG}}}metadata", with_tail=False)
    for element in root.iter():
        _check(element)
    return etree.tostring(root) + b"\n"


def _check(element: etree._Element) -> None:
    """Raise BookError for an element that no drawing of Matplotlib has."""
    name = etree.QName(element) if isinstance(element.tag, str) else None
    if name is None or name.namespace != SVG or name.localname not in DRAWN:
        raise BookError(f"A drawing holds {str(element.tag)[:60]!a}, which draws nothing.")
    if name.localname == "style" and not SHEET.fullmatch(element.text or ""):
        raise BookError("A drawing holds a style sheet that is not Matplotlib's.")
    for attribute, value in element.items():
        allowed = PECULIAR.get(attribute, PLAIN if ATTRIBUTES.fullmatch(attribute) else None)
        if allowed is None or not allowed.fullmatch(value):
            raise BookError(f"A drawing has {str(attribute)[:40]!a} with the value {value[:60]!a}.")
