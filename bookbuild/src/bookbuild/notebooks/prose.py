"""Conversion of the book's MyST prose to plain Markdown, as Colab and JupyterLab render it.

Directives, targets and running text are told apart line by line. In running text, one pattern finds
roles and links; it passes over code, formulas, images and escaped characters.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

FENCE = re.compile(r"(?P<margin>[ >]*(?:[-*+] +)?)(?P<fence>`{3,}|:{3,})(?P<info>\{.*|[^`]*)")
DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
OPTION = re.compile(r"\s*:[\w-]+:.*")
TARGET = re.compile(r"\([\w-]+\)=\s*")
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
TITLE_TARGET = re.compile(r"\s*<[^>]*>$")
CODE = ("code", "code-block", "sourcecode")
ON_THE_PAGE = ("include", "figure", "image", "bibliography", "concluded")


@dataclass(frozen=True)
class Prose:
    """What prose refers to: pages by name, of which `link` returns the address."""

    link: Callable[[str], str]

    def plain(self, text: str, folder: str) -> str:
        """Return a text of a folder of the book with roles, directives and links resolved."""
        return "\n".join(self._lines(text.splitlines(), folder))

    def _lines(self, lines: list[str], folder: str) -> Iterator[str]:
        running: list[str] = []
        place = 0
        while place < len(lines):
            opening = FENCE.fullmatch(lines[place])
            if not opening:
                if not TARGET.fullmatch(lines[place]):
                    running.append(lines[place])
                place += 1
                continue
            yield from self._running(running, folder)
            running.clear()
            margin, fence = re.sub(r"[-*+]", " ", opening["margin"]), opening["fence"]
            ends = range(place + 1, len(lines))
            end = next((n for n in ends if lines[n].strip(" >") == fence), len(lines))
            body = [line.removeprefix(margin) for line in lines[place + 1 : end]]
            directive = DIRECTIVE.fullmatch(opening["info"].strip())
            if directive:
                texts = (n for n, x in enumerate(body) if x.strip() and not OPTION.fullmatch(x))
                body = body[next(texts, len(body)) :]
                shown = self._directive(directive[1], directive[2], body, fence, folder)
                if end + 1 < len(lines) and lines[end + 1].strip("> \t"):
                    shown.append("")  # or what follows would count as quoted
                margins = [opening["margin"], *([margin] * len(shown))]
                yield from ((m + x).rstrip() for m, x in zip(margins, shown, strict=False))
            else:
                yield from lines[place : end + 1]
            place = end + 1
        yield from self._running(running, folder)

    def _directive(
        self, name: str, title: str, body: list[str], fence: str, folder: str
    ) -> list[str]:
        """Return the lines of a directive: a quotation under its title, code or a formula."""
        if name == "raw":
            return []
        if name in ON_THE_PAGE:
            return ["*(Shown on the page of the book.)*"]
        if name == "math":
            return ["$$", *body, "$$"]
        if name in CODE:
            fence = fence.replace(":", "`")
            return [f"{fence}{title}", *body, fence]
        heading = self.plain(title, folder) or name.rpartition(":")[2].capitalize()
        quoted = self.plain("\n".join(body), folder).splitlines()
        return [f"> **{heading}.**", ">", *(f"> {line}".rstrip() for line in quoted)]

    def _running(self, lines: list[str], folder: str) -> list[str]:
        """Return running text whose roles are shown and whose links lead to pages elsewhere."""

        def show(match: re.Match[str]) -> str:
            if match["role"]:
                return self._role(match["role"], NEXT_LINE.sub(" ", match["content"]))
            if match["text"] is None:
                return match[0]
            label, address = INLINE.sub(show, match["text"]), match["address"].strip("<>")
            if address.startswith("#"):
                return label
            page = PAGE.fullmatch(unquote(address))
            target = match["address"]
            if page:
                target = self.link(posixpath.normpath(posixpath.join(folder, page[1])))
            return f"[{label}]({target}{match['title'] or ''})"

        return INLINE.sub(show, "\n".join(lines)).split("\n") if lines else []

    def _role(self, name: str, content: str) -> str:
        if name.startswith("cite"):
            return f"[{'; '.join(key.strip() for key in content.split(','))}]"
        if name == "math":
            return f"${content}$"
        return TITLE_TARGET.sub("", content)
