"""What a book's sources say of one another, checked before anything is executed.

The code of chapters is read and not run. A label, a number, a row, a work or a page that a page
names has to be somewhere. If it is, Sphinx reads the pages once, without their code, and says what
else is wrong with them.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from symtable import symtable
from typing import Any

from nbformat import NotebookNode
from pybtex.database import parse_string
from pybtex.exceptions import PybtexError
from pygments.lexers import get_all_lexers

from bookbuild.errors import BookError, raise_if_any
from bookbuild.ledger.claims import LEDGER, Claim, read_claims
from bookbuild.ledger.evidence import read_evidence
from bookbuild.reporting.expressions import ROLE, quoted_code
from bookbuild.reporting.measures import quotable
from bookbuild.reporting.notebook import FIGURE_NAME, KEY
from bookbuild.schema import line_of, load
from bookbuild.settings import BuildSettings
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import CONFIG, check_config, read_book, read_citation, read_config
from bookbuild.source.chapters import (
    BOOK,
    TOC,
    Chapter,
    figure_name,
    line_in,
    listed_files,
    read_chapters,
    read_text,
    read_toc,
    tags,
)

from .cells import BADGE, BLOCK, SENTENCE
from .numbers import QUOTE
from .pieces import GENERATED, piece_names
from .structure import CITED, structure_slips

MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)  # IPython's own words
CELL_TAGS = """parameters hide-input hide-output hide-cell remove-input remove-output remove-cell
remove-stdout remove-stderr raises-exception scroll-output full-width margin"""
GIVEN = ("profile", "device", "seed", "settings", "display", "get_ipython", "__file__")
AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")  # what reads names where it stands
ANY = ""  # a measure whose name cannot be read
Slips = Iterator[tuple[str, int, str]]  # the file, the line, and a clause
FENCE = re.compile(r"\s*(`{3,}(?!.*`)|~{3,}|:{3,})(.*)")
LABEL = re.compile(
    r"^\s*(?:\(([\w.:-]+)\)=|:(?:label|name): *(\S+)|.*\$\$ *\(([\w.:-]+)\))\s*$", re.MULTILINE
)
ID = re.compile(r"\bid=\"([^\"{}]+)\"")
REFERENCE = re.compile(r"\{(?:ref|numref|eq|prf:ref)\}`(?:[^`<]*<)?([^`<>]+)>?`")
LINK = re.compile(r"\]\(<?([^()\s>]*)>?\)")
NAMED = re.compile(r"(?<![\w`])\{([\w:-]+)\}`")
LEXED = re.compile(r"^ *`{3,}(\w+) *$", re.MULTILINE)
LANGUAGES = {"none", *(x for _, names, *_ in get_all_lexers(plugins=False) for x in names)}
TITLE = re.compile(r"^# \S", re.MULTILINE)
INCLUDED = re.compile(r"^\s*```+\{(?:include|figure)\} *(\S+)", re.MULTILINE)
STARTED = re.compile(r"^([^:\n]*): ", re.MULTILINE)  # a sentence of a conclusion
SCHEME = re.compile(r"[a-z]+:")
OUTSIDE = ("http:", "https:", "mailto:")
# of Sphinx and docutils, of sphinx-proof and sphinxcontrib-bibtex, and of this builder
ROLES = """abbr any code command doc download envvar eq eval file func glue:text kbd math meth mod
name numref py:class py:func py:meth py:mod q ref sub sup term text verdict prf:ref
cite cite:p cite:t cite:ps cite:ts cite:year cite:author"""
VALUES: Any = ((0.5, None), ([0.5], "seeds"), ([0.5, 1], "interval"), ({"a": 0.5}, "settings"))


def code_slips(
    chapter: Chapter, text: str, measures: dict[str, int], figures: dict[str, str]
) -> Iterator[tuple[int, str]]:
    """Yield the slips of a chapter's code and expressions; note what it reports and shows."""
    every = {name for cell in chapter.notebook.cells for name in _names(cell)[0]}
    known = {*dir(builtins), *GIVEN}
    for cell in chapter.notebook.cells:
        line, source = line_in(text, cell.source), cell.source
        if cell.cell_type == "markdown":
            for role, code in zip(ROLE.finditer(source), quoted_code(source), strict=True):
                at = line + source[: role.start("code")].count("\n")
                yield from ((at, f"nothing above defines {x!r}") for x in _read(code) - known)
            continue
        for tag in (x for x in tags(cell) if x not in CELL_TAGS.split()):
            above = text[: text.rfind(":tags:", 0, text.find(source))]
            yield above.count("\n") + 1, f"there is no tag {tag!r}"
        try:
            nodes = [*ast.walk(ast.parse(MAGIC.sub("", source)))]
        except SyntaxError as error:
            yield line + (error.lineno or 1) - 1, f"the cell is no Python: {error.msg}"
            continue
        bound, now, later = _names(cell)
        known |= bound
        lost = (now - known) | (later - known - every)
        for node in (x for x in nodes if isinstance(x, ast.Name) and x.id in lost):
            yield line + node.lineno - 1, f"nothing above defines {node.id!r}"
        if name := figure_name(cell):
            if not FIGURE_NAME.fullmatch(name):
                at = line + source[: source.find(name)].count("\n")
                yield at, f"the figure's name {name!r} is not of small words, digits, - and _"
            if figures.setdefault(name, chapter.name) != chapter.name:
                yield line, f"the figure {name!r} is shown by {figures[name]} too"
        for call in (x for x in nodes if isinstance(x, ast.Call)):
            for name in filter(None, _reported(call)):
                if name in measures:
                    said = f"the measure {name!r} is reported on line {measures[name]} already"
                    yield line + call.lineno - 1, said
                elif not KEY.fullmatch(name):
                    yield line + call.lineno - 1, f"the measure {name!r} is no snake_case"
            measures |= dict.fromkeys(_reported(call), line + call.lineno - 1)


def _reported(call: ast.Call) -> list[str]:
    is_report = isinstance(call.func, ast.Name) and call.func.id == "report"
    return [word.arg or ANY for word in call.keywords] if is_report else []


def _names(cell: NotebookNode) -> tuple[set[str], set[str], set[str]]:
    """Return what a cell defines, what it reads at once, and what its functions read later."""
    bound, now, later = set[str](), set[str](), set[str]()
    try:
        code = MAGIC.sub("", cell.source) if cell.cell_type == "code" else ""
        table = symtable(code, "", "exec")
    except SyntaxError:
        return bound, now, later
    tables = [(table, now)]
    while tables:
        scope, reads = tables.pop()
        for symbol in scope.get_symbols():
            if scope is table or symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported():
                    bound.add(symbol.get_name())
                if symbol.is_referenced():
                    reads.add(symbol.get_name())
        for child in scope.get_children():
            at_once = reads is now and child.get_name() in AT_ONCE
            tables.append((child, now if at_once else later))
    return bound, now, later


def _read(code: str) -> set[str]:
    nodes = [*ast.walk(ast.parse(f"({code})", mode="eval"))]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - own - {x.arg for x in nodes if isinstance(x, ast.arg)}


def check_book(root: Path) -> tuple[dict[str, Any], list[Chapter], list[Claim]]:
    """Return contents, chapters and claims of a book; raise BookError with every slip in it."""
    problems: list[str] = []

    def kept(read: Any, *arguments: Any) -> Any:
        try:
            return read(*arguments)
        except BookError as error:
            problems.extend(error.problems)

    toc = read_toc(root)
    for path in sorted((*root.glob("*.yml"), *root.glob("[!._]*/*.yml"))):
        if (name := path.relative_to(root).as_posix()) not in (TOC, str(LEDGER)):
            kept(load, path, name)
    for read in (read_book, check_config, Addresses.find):
        if not any(problem.startswith(CONFIG) for problem in problems):
            kept(read, root)
    kept(read_citation, root)
    chapters = kept(read_chapters, root, toc)
    names = [name.removeprefix(f"{BOOK}/") for name in listed_files(toc)]
    claims = kept(read_claims, root, names if chapters is None else [x.name for x in chapters])
    if not problems:
        pages, figures = dict[str, str](), dict[str, str]()
        slips = {*_slips(root, toc, chapters, claims, pages, figures)}
        slips = slips or {*structure_slips(root, pages, figures.keys())}
        problems += [f"{file}, line {line}: {clause}." for file, line, clause in sorted(slips)]
    raise_if_any(dict.fromkeys(problems))
    return toc, chapters, claims


def _slips(
    root: Path,
    toc: Mapping[str, Any],
    chapters: Sequence[Chapter],
    claims: Sequence[Claim],
    pages: dict[str, str],
    figures: dict[str, str],
) -> Slips:
    """Yield what is wrong in files that can be read, each by itself; note pages and figures."""
    texts = {f"{name}.md": read_text(root / f"{name}.md") for name in listed_files(toc)}
    files = {chapter.name: f"{BOOK}/{chapter.name}.md" for chapter in chapters}
    measures: dict[str, dict[str, int]] = {name: {} for name in files}
    for chapter in chapters:
        file = files[chapter.name]
        of_code = code_slips(chapter, texts[file], measures[chapter.name], figures)
        yield from ((file, *slip) for slip in of_code)
    labels: dict[str, tuple[str, int]] = {}
    for file, text in texts.items():
        pages[file], is_open = _prose(text)
        if is_open:
            yield file, is_open, "the block that begins here does not end"
        for line, match in _found(LEXED, text):
            if match[1] not in LANGUAGES:
                yield file, line, f"there is no language {match[1]!r}"
        for line, match in _found(LABEL, pages[file]):
            label, here = next(filter(None, match.groups())), (file, line)
            if (first := labels.setdefault(label.lower(), here)) != here:
                yield *here, f"the label {label!r} stands in {first[0]}, line {first[1]} already"
    targets = {*labels, *figures, *(x for text in texts.values() for x in ID.findall(text))}
    works: set[str] = set()
    for file in read_config(root).get("bibtex_bibfiles", []):
        text = read_text(root / file)
        try:
            works |= {*parse_string(text, "bibtex").entries}
        except PybtexError as error:
            last = text[: text.rfind(f"{str(error).rpartition(' ')[2]},")]  # of a repeated work
            line = getattr(error, "lineno", last.count("\n") + 1)
            yield file, line, f"the bibliography cannot be read: {error}"
    rows = {claim.id for claim in claims}
    pieces = piece_names(read_evidence(root).weigh([], (), BuildSettings(root))[1])
    numbers = {name for of in measures.values() for measure in of for name in _quotable(measure)}
    quoted: set[str] = set()
    for file, prose in pages.items():
        slips = [*_own_slips(prose)]
        for line, match in _found(REFERENCE, prose):
            if match[1].strip().lower() not in targets:
                slips.append((line, f"there is no label {match[1]!r}"))
        for line, match in _found(LINK, prose):
            slips.append((line, _dead(root / file, match[1], targets)))
        for line, match in _found(CITED, prose):
            lost = {x.strip() for x in match[1].split(",")} - works
            slips += ((line, f"no bibliography has the work {key!r}") for key in lost)
        for line, match in _found(QUOTE, prose):
            quoted.add(match[1])
            slips.append((line, _unquotable(match[1], match[2], numbers)))
        for line, match in (*_found(BADGE, prose), *_found(BLOCK, prose)):
            lost = set(match[1].split()) - rows
            slips += ((line, f"the ledger has no row {row!r}") for row in lost)
        for line, match in _found(INCLUDED, prose):
            if not _is_there(root / file, match[1], files, figures, pieces):
                slips.append((line, f"there is no {match[1]} to include"))
        yield from ((file, *slip) for slip in slips if slip[1])
    yield from _claim_slips(root, claims, files, measures, quoted)


def _prose(text: str) -> tuple[str, int]:
    """Return a page with blank lines for front matter and code, and the line of an open block."""
    lines: list[str] = []
    stack: list[tuple[str, bool, int]] = []  # fences, whether code is between them, and their lines
    front = text.startswith("---\n")
    for number, line in enumerate(text.split("\n"), start=1):
        fence = None if front else FENCE.fullmatch(line)
        is_code = front or bool(stack and stack[-1][1])
        if fence and stack and not fence[2].strip() and fence[1].startswith(stack[-1][0]):
            stack.pop()
        elif fence and not is_code:
            info = fence[2].strip()
            is_code = fence[1][0] != ":" and not re.match(r"\{(?!code-cell)", info)
            stack.append((fence[1], is_code, number))
        front = front and not (number > 1 and line == "---")
        lines.append("" if is_code else line)
    return "\n".join(lines), stack[-1][2] if stack else 0


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the places of a pattern, with the lines of what it has found there."""
    for match in pattern.finditer(text):
        starts = (match.start(n) for n in range(1, match.re.groups + 1) if match.start(n) >= 0)
        yield text[: min(starts, default=match.start())].count("\n") + 1, match


def _own_slips(prose: str) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with a page whatever others say."""
    titles = [line for line, _ in _found(TITLE, prose)]
    if titles[1:]:
        yield titles[1], "the page has a second title; its sections begin with ##"
    if not titles:
        first = len(prose) - len(prose.lstrip())
        said = "the page has no title, which is a line that begins with #"
        yield prose[:first].count("\n") + 1, said
    for line, match in _found(NAMED, prose):
        if match[1] not in ROLES.split():
            yield line, f"there is no role {match[1]!r}"
    for line, match in _found(BLOCK, prose):
        for number, started in _found(STARTED, match[2]):
            if not SENTENCE.match(f"{started[0]}x"):
                yield line + number, f"{started[1]!r} is no verdict"


def _dead(page: Path, address: str, targets: Set[str]) -> str:
    """Return why a link leads nowhere; empty if it does not."""
    path, _, anchor = address.partition("#")
    if address.startswith(OUTSIDE) or GENERATED in address:
        return ""
    if SCHEME.match(address):
        return f"the link to {address!r} begins in a way that no link of a book does"
    if address in ("", "#") or (path and not page.parent.joinpath(path).exists()):
        return f"there is no {path!r} to link to"
    known = not anchor or anchor in targets or anchor.lower() in targets
    return "" if known else f"there is no label {anchor!r}"


def _quotable(measure: str) -> set[str]:
    """Return the names of the numbers that pages can quote of a measure, whatever its value is."""
    return {name for value, over in VALUES for name in quotable(measure, value, over)}


def _unquotable(name: str, form: str, numbers: Set[str]) -> str:
    try:
        format(0.5, form)
    except ValueError:
        return f"the number {name!r} cannot be written as {form!r}"
    return "" if name in numbers else f"no chapter reports the number {name!r}"


def _is_there(
    page: Path,
    path: str,
    chapters: Mapping[str, str],
    figures: Mapping[str, str],
    pieces: Set[str],
) -> bool:
    """Return whether a piece is there that a page includes, or will be."""
    _, generated, rest = path.partition(f"{GENERATED}/")
    if not generated:
        return page.parent.joinpath(path).is_file()
    kind, _, place = rest.rpartition(".")[0].partition("/")
    if kind == "figures":
        chapter, _, figure = place.rpartition("/")
        return figures.get(figure.removesuffix("_narrow")) == chapter
    return place in chapters if kind == "results" else kind in pieces


def _claim_slips(
    root: Path,
    claims: Sequence[Claim],
    files: Mapping[str, str],
    measures: Mapping[str, Mapping[str, int]],
    quoted: Set[str],
) -> Slips:
    """Yield claims that no code measures, and measures that nothing needs or two chapters have."""
    owners = {name: chapter for chapter, of in measures.items() for name in of}
    for number, claim in enumerate(claims):
        owner, known = owners.get(claim.measure), measures[claim.chapter]
        if claim.measure and owner != claim.chapter and ANY not in known:
            line = line_of(read_text(root / LEDGER), (number, "measure"))
            by = f"{owner}, not by {claim.chapter}" if owner else "no chapter"
            said = f"row {claim.id!r}: the measure {claim.measure!r} is reported by {by}"
            yield str(LEDGER), line, said
    claimed = {claim.measure for claim in claims}
    for chapter, of in measures.items():
        for name, line in ((name, of[name]) for name in of if name != ANY):
            if owners[name] != chapter:
                said = f"the measure {name!r} is reported by {owners[name]} too"
                yield files[chapter], line, said
            elif not (name in claimed or _quotable(name) & quoted):
                said = f"the measure {name!r} has no claim, and no other page quotes it"
                yield files[chapter], line, said
