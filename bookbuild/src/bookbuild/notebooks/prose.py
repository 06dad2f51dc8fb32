"""Conversion of the book's MyST prose to plain Markdown, as Colab and JupyterLab render it.

The parser of the site says which lines are directives, targets and running text. In running text,
one pattern finds roles and links; it passes over code, formulas, images and escaped characters.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
OPTION = re.compile(r"\s*:[\w-]+:.*")
KEPT = r"\\.|\$\$(?:\\.|[^$\\])+\$\$|\$(?:\\.|[^$\\])+\$|!\[[^\]]*\]\([^)]*\)"
INLINE = re.compile(
    r"\{(?P<role>[A-Za-z_:+-]+)\}(?P<ticks>`+)(?!`)(?P<content>.+?)(?<!`)(?P=ticks)(?!`)"
    rf"|(?<!`)(?P<code>`+)(?!`).+?(?<!`)(?P=code)(?!`)|{KEPT}"
    rf"|\[(?P<text>(?>`[^`]+`|{KEPT}|[^\[\]])*)\]"
    r"\((?P<address><[^<>\n]*>|[^\s()]*)(?P<title>\s[^()]*)?\)",
    re.DOTALL,
)
PAGE = re.compile(r"([^:#]+)\.md(?:#.*)?")  # the address of another page, with or without a label
NEXT_LINE = re.compile(r"\n[>\s]*")
NOT_QUOTING = re.compile(r"[^>\s]")
TITLE_TARGET = re.compile(r"\s*<[^>]*>$")
CODE = ("code", "code-block", "sourcecode")
ON_THE_PAGE = ("include", "figure", "image", "bibliography", "concluded")


@dataclass(frozen=True)
class Prose:
    """What prose refers to (pages and numbers by name), and the extensions of MyST in it.

    `link` returns the address of a page, by its name.
    """

    link: Callable[[str], str]
    extensions: tuple[str, ...]
    numbers: Mapping[str, float | bool] = field(default_factory=dict)

    def plain(self, text: str, folder: str) -> str:
        """Return a text with roles, directives and links to pages resolved.

        Links are relative to a folder of the book. A number that is not known is an ellipsis.
        """
        lines = text.replace("\0", "\ufffd").splitlines()
        plain, after = [], 0
        for (first, last), block in sorted(self._blocks(lines, folder).items()):
            plain += [*lines[after:first], *block]
            after = last
        return "\n".join([*plain, *lines[after:]])

    def _blocks(self, lines: list[str], folder: str) -> dict[tuple[int, int], list[str]]:
        """Return what replaces lines, from one up to another; cells of a table share a line."""
        blocks = {}
        for token in _parser(self.extensions).parse("".join(f"{line}\n" for line in lines)):
            if token.map is None:
                continue
            first, last = token.map[0], max(token.map[1], token.map[0] + 1)  # a term spans no line
            directive = DIRECTIVE.fullmatch(token.info.strip()) if "fence" in token.type else None
            if directive:
                body, (name, title) = _without_options(token.content), directive.groups()
                shown = self._directive(name, title, body, token.markup, folder)
                if last < len(lines) and lines[last].strip("> \t"):
                    shown.append("")  # or what follows would count as quoted
                opening = lines[first].partition(token.markup)[0]
                blocks[first, last] = _laid_out(opening, shown)
            elif token.type == "myst_target":
                opening = lines[first].rpartition(f"({token.content})=")[0]
                blocks[first, last] = _laid_out(opening, [])
            elif token.type == "inline":
                running = "\n".join(lines[first:last])
                blocks[first, last] = self._running(running, folder).split("\n")
        return blocks

    def _directive(self, name: str, title: str, body: str, fence: str, folder: str) -> list[str]:
        """Return the lines of a directive: a quotation under its title, code or a formula."""
        if name == "raw":
            return []
        if name in ON_THE_PAGE:
            return ["*(Shown on the page of the book.)*"]
        if name == "math":
            return ["$$", *body.splitlines(), "$$"]
        if name in CODE:
            fence = fence.replace(":", "`")
            return [f"{fence}{title}", *body.splitlines(), fence]
        heading = self.plain(title, folder) or name.rpartition(":")[2].capitalize()
        quoted = self.plain(body, folder).splitlines()
        return [f"> **{heading}.**", ">", *(f"> {line}".rstrip() for line in quoted)]

    def _running(self, text: str, folder: str) -> str:
        """Return running text whose roles are shown and whose links lead to pages elsewhere."""

        def show(match: re.Match[str]) -> str:
            if match["role"]:
                return self._role(match["role"], NEXT_LINE.sub(" ", match["content"]))
            if match["text"] is None:
                return match[0]
            label, address = self._running(match["text"], folder), match["address"].strip("<>")
            if address.startswith("#"):
                return label
            page = PAGE.fullmatch(unquote(address))
            target = match["address"]
            if page:
                target = self.link(posixpath.normpath(posixpath.join(folder, page[1])))
            return f"[{label}]({target}{match['title'] or ''})"

        return INLINE.sub(show, text)

    def _role(self, name: str, content: str) -> str:
        """Return what a role shows."""
        if name.startswith("glue"):
            key, _, spec = content.partition(":")
            return format(self.numbers[key], spec) if key in self.numbers else "…"
        if name.startswith("cite"):
            return f"[{'; '.join(key.strip() for key in content.split(','))}]"
        if name == "math":
            return f"${content}$"
        return TITLE_TARGET.sub("", content)


@cache
def _parser(extensions: tuple[str, ...]) -> MarkdownIt:
    """Return the site's parser, for blocks alone."""
    parser = create_md_parser(MdParserConfig(enable_extensions=set(extensions)), RendererHTML)
    # a rule at the head of a cell is a rule
    return parser.disable(["front_matter", "inline"])


def _without_options(body: str) -> str:
    """Return the body of a directive without its options and the blank lines around them."""
    lines = body.splitlines()
    while lines and (OPTION.fullmatch(lines[0]) or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines)


def _laid_out(opening: str, lines: list[str]) -> list[str]:
    """Return the lines of a block, as far in and as deeply quoted as its opening is."""
    if not lines and not opening.strip():
        return []
    first, *further = lines or [""]
    margin = NOT_QUOTING.sub(" ", opening)
    return [line.rstrip() for line in (opening + first, *(margin + line for line in further))]
