"""Conversion of the book's MyST prose to plain Markdown, as Colab and JupyterLab render it."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from pybtex.database import Person, parse_file
from pybtex.richtext import Text

from .syntax import EXTENSIONS, Directive, Link, Role, Target, read

PAGE = re.compile(r"([^:#]+)\.md(?:#.*)?")  # the address of another page, with or without a label
NOT_QUOTING = re.compile(r"[^>\s]")
TITLE_TARGET = re.compile(r"\s*<[^>]*>$")
UNKNOWN_NUMBER = "…"
CODE = ("code", "code-block", "sourcecode")
ON_THE_PAGE = ("include", "figure", "image", "bibliography", "concluded")


@dataclass(frozen=True)
class Prose:
    """What prose refers to (numbers and citations by key, pages by name), and its extensions."""

    link: Callable[[str], str]
    numbers: Mapping[str, float | bool] = field(default_factory=dict)
    citations: Mapping[str, str] = field(default_factory=dict)
    extensions: tuple[str, ...] = EXTENSIONS

    def plain(self, text: str, folder: str) -> str:
        """Return a text with roles, directives and links to pages resolved.

        Links are relative to a folder of the book. A number that is not known is an ellipsis.
        """
        source = "".join(f"{line}\n" for line in text.replace("\0", "\ufffd").splitlines())
        pieces, after = [], 0
        for start, end, new in sorted(self._edits(source, folder)):
            pieces += [source[after:start], new]
            after = end
        return "".join([*pieces, source[after:]]).removesuffix("\n")

    def _edits(self, source: str, folder: str) -> Iterator[tuple[int, int, str]]:
        """Yield what is to be replaced, from one character up to another, and by what."""
        for part in read(source, self.extensions):
            match part:
                case Directive():
                    lines = self._directive(part, folder)
                    if source[part.end :].partition("\n")[0].strip("> \t"):
                        lines.append("")  # or what follows would count as quoted
                    yield part.start, part.end, _laid_out(part.opening, lines)
                case Target():
                    yield part.start, part.end, _laid_out(part.opening, [])
                case Link():
                    yield from self._link(part, folder)
                case Role():
                    yield part.start, part.end, self._role(part)

    def _directive(self, part: Directive, folder: str) -> list[str]:
        """Return the lines of a directive: a quotation under its title, code or a formula."""
        if part.name == "raw":
            return []
        if part.name in ON_THE_PAGE:
            return ["*(Shown on the page of the book.)*"]
        if part.name == "math":
            return ["$$", *part.body.splitlines(), "$$"]
        if part.name in CODE:
            fence = part.fence.replace(":", "`")
            return [f"{fence}{part.title}", *part.body.splitlines(), fence]
        heading = self.plain(part.title, folder) or part.name.rpartition(":")[2].capitalize()
        body = self.plain(part.body, folder).splitlines()
        return [f"> **{heading}.**", ">", *(f"> {line}".rstrip() for line in body)]

    def _link(self, part: Link, folder: str) -> Iterator[tuple[int, int, str]]:
        """Yield the edits that lead a link to a page elsewhere, or take one to a label away."""
        page = PAGE.fullmatch(unquote(part.address))
        if page:
            quoted = part.title.replace('"', r"\"")
            title = f' "{quoted}"' if quoted else ""
            name = posixpath.normpath(posixpath.join(folder, page[1]))
            yield part.text_end, part.end, f"]({self.link(name)}{title})"
        elif part.address.startswith("#"):
            yield part.start, part.start + 1, ""
            yield part.text_end, part.end, ""

    def _role(self, part: Role) -> str:
        """Return what a role shows."""
        if part.name.startswith("glue"):
            key, _, spec = part.content.partition(":")
            return format(self.numbers[key], spec) if key in self.numbers else UNKNOWN_NUMBER
        if part.name.startswith("cite"):
            keys = (key.strip() for key in part.content.split(","))
            return f"[{'; '.join(self.citations.get(key, key) for key in keys)}]"
        if part.name == "math":
            return f"${part.content}$"
        return TITLE_TARGET.sub("", part.content)


def read_citations(path: Path) -> dict[str, str]:
    """Return authors and year of each entry of a bibliography, by key."""
    entries = parse_file(str(path)).entries
    return {
        key: f"{_authors(entry.persons.get('author', []))}, {entry.fields.get('year', 'n.d.')}"
        for key, entry in entries.items()
    }


def _authors(persons: list[Person]) -> str:
    """Return the family names of one or two authors, or of the first with et al."""
    names = [str(Text.from_latex(" ".join(person.last_names))) for person in persons]
    many = len(names) > 2 or "others" in names
    return f"{names[0]} et al." if many else " and ".join(names)


def _laid_out(opening: str, lines: list[str]) -> str:
    """Return the lines of a block, as far in and as deeply quoted as its opening is."""
    first, *further = lines or [""]
    margin = NOT_QUOTING.sub(" ", opening)
    laid = [opening + first, *(margin + line for line in further)]
    return "".join(f"{line.rstrip()}\n" for line in laid) if lines or opening.strip() else ""
