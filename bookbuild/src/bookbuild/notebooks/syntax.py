"""The parts of MyST that plain Markdown lacks, and their places, from the parser of the site."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline, link
from markdown_it.token import Token
from mdit_py_plugins.myst_role.index import myst_role
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

EXTENSIONS = (  # of MyST, for a book whose configuration names none
    "amsmath",
    "attrs_block",
    "attrs_inline",
    "colon_fence",
    "deflist",
    "dollarmath",
    "substitution",
    "tasklist",
)
DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
OPTION = re.compile(r"\s*:[\w-]+:.*")
PLACE = "place"  # in the meta of a token: where it begins, where its text ends, where it ends


@dataclass(frozen=True)
class Part:
    """A part of a text, from one character up to another."""

    start: int
    end: int


@dataclass(frozen=True)
class Directive(Part):
    """A directive, whole lines; the opening is what stands before it, as a bullet does."""

    name: str
    title: str
    body: str
    fence: str
    opening: str


@dataclass(frozen=True)
class Target(Part):
    """A line that names the place of what follows, and what stands before it."""

    opening: str


@dataclass(frozen=True)
class Link(Part):
    """A link in brackets, inline or by reference; its text ends before the closing bracket."""

    text_end: int
    address: str
    title: str


@dataclass(frozen=True)
class Role(Part):
    """A role and what it is applied to."""

    name: str
    content: str


def read(
    text: str, extensions: tuple[str, ...] = EXTENSIONS
) -> Iterator[Directive | Target | Link | Role]:
    """Yield the parts of a text whose lines all end in a newline; a directive's body is unread.

    `extensions` are those of MyST that the text uses.
    """
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    cursor = 0
    for token in _parser(extensions).parse(text):
        if token.map is None:
            continue
        first, last = token.map
        line = text[starts[first] : starts[first + 1]]
        match = DIRECTIVE.fullmatch(token.info.strip()) if "fence" in token.type else None
        if match:
            name, title = match.groups()
            yield Directive(
                starts[first],
                starts[last],
                name=name,
                title=title,
                body=_without_options(token.content),
                fence=token.markup,
                opening=line[: line.index(token.markup)],
            )
        elif token.type == "myst_target":
            yield Target(starts[first], starts[last], line[: line.rindex(f"({token.content})=")])
        elif token.type == "inline":
            found = _places(token.content, text, starts[first:], cursor)
            cursor = found[-1]
            yield from _inline(token, found)


def _inline(token: Token, found: list[int]) -> Iterator[Link | Role]:
    """Yield the links and roles of an inline token, given the place of each of its characters."""
    for child in token.children or ():
        if PLACE not in child.meta:
            continue
        start, text_end, end = (found[place] for place in child.meta[PLACE])
        if child.type == "link_open":
            attributes = (str(child.attrs.get(name, "")) for name in ("href", "title"))
            yield Link(start, end, text_end, *attributes)
        else:
            yield Role(start, end, child.meta["name"], child.content)


def _places(content: str, text: str, starts: list[int], cursor: int) -> list[int]:
    """Return the place in the text of each character of an inline token's content, and its end.

    The content lacks the indentation and the markers of its lines, and in a table the backslashes
    before pipes; cells of one line are told apart by the cursor, where the last one ended.
    """
    found: list[int] = []
    for (start, end), line in zip(pairwise(starts), content.split("\n"), strict=False):
        words = line.strip()
        place = text.find(words, max(start, cursor), end)
        if place < 0:
            place = text.index(words.replace("|", r"\|"), max(start, cursor), end)
        found += range(place - line.index(words), place)
        for character in words:
            place += text[place] != character  # a backslash
            found.append(place)
            place += 1
        cursor = place
        found += range(place, place + len(line) - len(line.rstrip()) + 1)
    return found


def _without_options(body: str) -> str:
    """Return the body of a directive without its options and the blank lines around them."""
    lines = body.splitlines()
    fences = [place for place, line in enumerate(lines) if line.strip() == "---"]
    if len(fences) > 1 and fences[0] == 0:
        del lines[: fences[1] + 1]
    while lines and (OPTION.fullmatch(lines[0]) or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines)


@cache
def _parser(extensions: tuple[str, ...]) -> MarkdownIt:
    """Return the site's parser; its links and roles know their place in the inline content."""
    made = create_md_parser(MdParserConfig(enable_extensions=set(extensions)), RendererHTML)
    made.disable("front_matter")  # a rule at the head of a cell is a rule
    made.inline.ruler.at("link", _placed_link)
    made.inline.ruler.at("myst_role", _placed_role)
    return made


def _placed_link(state: StateInline, silent: bool) -> bool:
    start, before = state.pos, len(state.tokens)
    if not link(state, silent):
        return False
    if not silent:
        text_end = state.md.helpers.parseLinkLabel(state, start, True)
        opened = next(token for token in state.tokens[before:] if token.type == "link_open")
        opened.meta[PLACE] = (start, text_end, state.pos)
    return True


def _placed_role(state: StateInline, silent: bool) -> bool:
    start = state.pos
    if not myst_role(state, silent):
        return False
    if not silent:
        state.tokens[-1].meta[PLACE] = (start, start, state.pos)
    return True
