"""Turn MyST prose into the plain Markdown that Colab and JupyterLab render."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pybtex.database import Person, parse_file
from pybtex.richtext import Text

ROLE = re.compile(r"\{([\w:-]+)\}`([^`]+)`")
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)\.md(?:#[^)\s]*)?(?=[)\s])")
LABEL_LINK = re.compile(r"\[([^\]]*)\]\(#[^)\s]*\)")
FENCE = re.compile(r"\s*(`{3,}|:{3,})(?:\{([\w:-]+)\})?\s*(.*)")
LABEL = re.compile(r"\([\w.:-]+\)=\s*")
OPTION = re.compile(r":[\w-]+:.*")
TITLE_TARGET = re.compile(r"\s*<[^>]*>$")
UNKNOWN_NUMBER = "…"
ON_THE_PAGE = ("include", "figure", "image", "bibliography")


@dataclass(frozen=True)
class Prose:
    """What the prose refers to: measured numbers by key, citations by key, pages by name."""

    link: Callable[[str], str]
    numbers: Mapping[str, float | bool] = field(default_factory=dict)
    citations: Mapping[str, str] = field(default_factory=dict)

    def plain(self, text: str, folder: str) -> str:
        """Return a text with roles, directives and links to pages resolved.

        Links are relative to a folder of the book. A number that is not known is an ellipsis.
        """
        lines = "\n".join(_without_directives(iter(text.splitlines())))
        linked = LINK.sub(lambda match: self.link(_join(folder, match[1])), lines)
        return ROLE.sub(self._role, LABEL_LINK.sub(r"\1", linked))

    def _role(self, match: re.Match[str]) -> str:
        role, content = match.groups()
        if role.startswith("glue"):
            key, _, spec = content.partition(":")
            return format(self.numbers[key], spec) if key in self.numbers else UNKNOWN_NUMBER
        if role.startswith("cite"):
            keys = (key.strip() for key in content.split(","))
            return f"[{'; '.join(self.citations.get(key, key) for key in keys)}]"
        return TITLE_TARGET.sub("", content)


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


def _join(folder: str, path: str) -> str:
    """Return the name of a page that a relative path leads to from a folder."""
    parts: list[str] = [part for part in folder.split("/") if part]
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _without_directives(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines with directives as quotations under their title; code blocks stay."""
    for line in lines:
        match = FENCE.fullmatch(line)
        if match and match[2]:
            yield from _quoted(match[2], match[3], list(_until(match[1], lines)))
        elif match and match[1][0] == "`":
            yield from (line, *_until(match[1], lines), match[1])
        elif not LABEL.fullmatch(line):
            yield line


def _until(fence: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the one that closes a fence."""
    for line in lines:
        if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            return
        yield line


def _quoted(name: str, title: str, body: list[str]) -> Iterator[str]:
    """Yield a directive as Markdown."""
    if name in ON_THE_PAGE:
        yield "*(Shown on the page of the book.)*"
        return
    if name == "math":
        yield from ("$$", *_without_options(body), "$$")
        return
    heading = title.strip() or name.rpartition(":")[2].capitalize()
    yield f"> **{heading}.**"
    yield ">"
    inner = _without_directives(iter(_without_options(body)))
    yield from (f"> {line}".rstrip() for line in inner)


def _without_options(body: Iterable[str]) -> list[str]:
    """Return the body of a directive without its options and the blank line after them."""
    lines = list(body)
    while lines and (OPTION.fullmatch(lines[0]) or not lines[0].strip()):
        lines.pop(0)
    return lines
