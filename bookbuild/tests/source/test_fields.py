"""Fields of a book that are missing or wrong, and its prose as plain Markdown."""

import copy
import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from bookbuild.cli.book import TEMPLATE
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.notebooks import Prose
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import check_config, names, read_book, read_citation
from bookbuild.source.chapters import read_chapters, read_toc

WRONG = ("gone", None, 5, [1], {"a": 1}, "x")
CHAPTER = "book/paper/01_distance.md"


def read(root):
    """Read all that a build reads before it executes anything."""
    read_book(root)
    check_config(root)
    cited = read_citation(root)
    chapters = read_chapters(root, read_toc(root))
    read_claims(root, [chapter.name for chapter in chapters])
    Addresses.find(root)
    assert "; ".join(names(cited))


def places(document, above=()):
    """The paths of all fields and items of a document."""
    for key in document if isinstance(document, dict) else range(len(document)):
        yield (*above, key)
        if isinstance(document[key], dict | list):
            yield from places(document[key], (*above, key))


@pytest.fixture
def book(tmp_path):
    return Path(shutil.copytree(TEMPLATE, tmp_path / "book"))


@pytest.mark.slow("hundreds of books are read")
@pytest.mark.parametrize("file", ["_config.yml", "CITATION.cff", "data/claims.yml", "_toc.yml"])
def test_every_field_may_be_wrong(book, file):
    read(book)
    document = yaml.safe_load((book / file).read_text(encoding="utf-8"))
    refused = set()
    for *above, last in places(document):
        for wrong in WRONG:
            edited = copy.deepcopy(document)
            node = edited
            for key in above:
                node = node[key]
            node[last] = wrong
            if wrong == "gone":
                del node[last]
            (book / file).write_text(yaml.safe_dump(edited), encoding="utf-8")
            with suppress(BookError):
                read(book)
                continue
            refused.add((*above, last))
    assert len(refused) >= 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'fig, "fig-distance"',
            "fig, name",
            "line 48: the name of a figure is no text: write it out",
        ),
        ('fig, "fig-distance"', 'fig, f"fig-{1}"', "the name of a figure is no text"),
        ("    alt=", "    alternative=", "the figure 'fig-distance' is shown without alt="),
        ("    caption=", "    text=", "the figure 'fig-distance' is shown without caption="),
        ("show(\n", 'if n_walks:\n    show(fig, "b")\nshow(\n', "one cell shows 2 figures"),
        ("`steps[1]`", "`steps[1`", "line 38: steps[1 is no expression ("),
        ("`steps[1]`", "`steps[1], 2`", "line 38: steps[1], 2 is no expression (several"),
        (":tags: [hide-input]", ":tags: a: b", "cannot be read: Code cell 4 at line 40"),
        ('device = "auto"', "device =", "the cell of parameters is no Python"),
        ("kernelspec:\n", "kernelspec: {\n", "did not find expected"),
        ("profile = ", "profil = ", "there is no parameter 'profil'"),
        ("seed = 0", "seed = 0\nsetting = {}", "there is no parameter 'setting'"),
        ("seed = 0", "settings = {}", "the parameter 'seed' is not set"),
        ("seed = 0", "", "the parameter 'seed' is not set"),
        ("[parameters, remove-cell]", "[remove-cell]", "0 cells are tagged parameters"),
        ("\n---\n\n#", "\nbookbuild: {data: [x]}\n---\n\n#", "there is no x"),
        ("\n---\n\n#", "\nbookbuild: {minutes: x}\n---\n\n#", "minutes' is not a number: 'x'"),
        ("\n---\n\n#", "\nbookbuild: {device: tpu}\n---\n\n#", "device' is not one of any, cpu"),
    ],
)
def test_what_a_chapter_lacks_is_told_before_it_is_executed(book, old, new, told):
    text = (book / CHAPTER).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (book / CHAPTER).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BookError, match=re.escape(told)):
        read(book)


def test_a_figure_may_take_its_texts_from_a_mapping(book):
    text = (book / CHAPTER).read_text(encoding="utf-8")
    start, end = text.index("    caption="), text.index(")\n```", text.index("    alt="))
    (book / CHAPTER).write_text(f"{text[:start]}    **texts,\n{text[end:]}", encoding="utf-8")
    read(book)


PROSE = Prose(link=lambda name: f"<{name}>")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("{cite}`olsson,reddy`", "[olsson; reddy]"),
        ("{ref}`Hypothesis 1 <hypothesis-1>`", "Hypothesis 1"),
        ("[§2](02_heads.md), [v](../verdicts.md#x)", "[§2](<paper/02_heads>), [v](<verdicts>)"),
        ("(label)=\ntext", "text"),
        (
            "````{prf:proof}\nso\n\n```{note}\nx\n```\n````",
            "> **Proof.**\n>\n> so\n>\n> > **Note.**\n> >\n> > x",
        ),
        (":::{admonition} A title\n:class: tip\ntext\n:::", "> **A title.**\n>\n> text"),
        ("```{math}\n:label: e\nx\n```", "$$\nx\n$$"),
        ("```{include} a.md\n```", "*(Shown on the page of the book.)*"),
        ("```python\n{x}\n(label)=\n```", "```python\n{x}\n(label)=\n```"),
        # places are those of the parser
        ("{ref}``a `b` <c>``", "a `b`"),
        ("[{cite}`reddy`, **x**](#figure-4)", "[reddy], **x**"),
        ("[`a]b`](02_heads.md)", "[`a]b`](<paper/02_heads>)"),
        ('[a](<02_heads.md> "so")', '[a](<paper/02_heads> "so")'),
        ("[![a](b.svg)](02_heads.md)", "[![a](b.svg)](<paper/02_heads>)"),
        ("$`$ {cite}`reddy` $`$", "$`$ [reddy] $`$"),
        ("$N={}${ref}`slope`", "$N={}$slope"),
        ("> a {cite}`olsson,\n> reddy` b", "> a [olsson; reddy] b"),
        (
            "| [a](#a) | b \\| {cite}`reddy` |\n|---|---|\n| [a](#a) | `x` |",
            "| a | b \\| [reddy] |\n|---|---|\n| a | `x` |",
        ),
        ("[^1]: [a](#b)\n\nc[^1]", "[^1]: a\n\nc[^1]"),
        ("term {cite}`reddy`\n: [a](#b)", "term [reddy]\n: a"),
        ("- a\n\n  ```{note}\n  b\n  ```\n- c", "- a\n\n  > **Note.**\n  >\n  > b\n\n- c"),
        ("> ```{note} T\n> b\n> ```\n> c", "> > **T.**\n> >\n> > b\n>\n> c"),
        (
            "::::{prf:proof} of {cite}`reddy`\n:::{note}\n{ref}`x`\n:::\n::::",
            "> **of [reddy].**\n>\n> > **Note.**\n> >\n> > x",
        ),
        ("```{note}\nb\n```\n```{tip}\nc\n```", "> **Note.**\n>\n> b\n\n> **Tip.**\n>\n> c"),
        (":::{code-block} python\n{cite}`reddy`\n:::", "```python\n{cite}`reddy`\n```"),
        ("a\n\n```{raw} html\n<div>\n```\n\nb", "a\n\n\nb"),
    ],
)
def test_prose_becomes_plain_markdown(text, plain):
    assert PROSE.plain(text, "paper") == plain


@pytest.mark.parametrize(
    "text",
    [
        "``{cite}`olsson` `` and `[a](02_heads.md)`",
        "````\n```{note}\n(label)=\n{cite}`olsson`\n```\n````",
        r"\{cite}`olsson`",
        "$\\text{cite}`olsson`$ and $$\\{x\\}_{[a](02_heads.md)}$$",
        "[a](https://x.org#b) [b](mailto:a@b.md) ![c](picture.md.png)",
        "---\ntext\n---",
    ],
)
def test_what_is_no_role_link_or_directive_stays(text):
    assert PROSE.plain(text, "paper") == text
