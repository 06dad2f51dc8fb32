"""Outputs are cleaned before a page sees them, whoever made them."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbuild.results.admission import ACTIVE, GLUED, sanitised, svg_faults

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'
FOLD = (
    '<details class="provenance"><summary>How</summary><dl><dt>a</dt><dd>1 · 2</dd></dl>'
    '<a href="../f.svg" download="">SVG</a></details>'
)


def cleaned(kind: str, content: str) -> str:
    cell = new_code_cell(outputs=[new_output("display_data", data={kind: content})])
    return sanitised(new_notebook(cells=[cell])).cells[0].outputs[0].data[kind]


def test_what_chapters_show_stays_as_it_is() -> None:
    assert cleaned("text/html", FOLD) == FOLD
    table = "| a | b |\n|---|---|\n| `x` | $T_\\gamma<T_\\beta$ [§5](05_emergence.md) |\n"
    assert cleaned("text/markdown", table) == table
    assert cleaned("image/svg+xml", SVG.format("<g/>")) == SVG.format("<g/>")


@pytest.mark.parametrize("kind", ["text/html", f"{GLUED}text/html"])
def test_html_loses_what_could_act_and_the_lines_that_end_it(kind: str) -> None:
    text = '<b onclick="x()">a</b>\n\n```{raw} html\n<script>x()</script><iframe src="y"></iframe>'
    assert cleaned(kind, text) == "<b>a</b>\n```{raw} html"


def test_what_a_page_would_hand_to_a_script_is_emptied() -> None:
    assert cleaned("application/javascript", "x()") == ""
    assert cleaned("application/vnd.jupyter.widget-view+json", "{}") == ""


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x>",
        "```{include} /etc/passwd\n```",
        "[a](/etc/passwd)",
        "![](a.png)",
        "{{ a }}",
        "{raw-html}`a`",
        "[a]: /etc/passwd",
        ":::{note}",
        "$\\href{javascript:a}{b}$",
        ".. raw:: b",
    ],
)
def test_markup_that_acts_is_set_as_code(text: str) -> None:
    assert ACTIVE.search(text)
    assert cleaned("text/markdown", text) == f"    {text!r}"


@pytest.mark.parametrize(
    "inside",
    [
        "<script>x()</script>",
        '<g onload="x()"/>',
        '<use xlink:href="https://a.org/b"/>',
        "<foreignObject/>",
        "<style>@import 'a';</style>",
        '<g style="fill: url(https://a.org)"/>',
    ],
)
def test_a_drawing_that_acts_or_reaches_out_is_emptied(inside: str) -> None:
    assert list(svg_faults(SVG.format(inside).encode()))
    assert cleaned("image/svg+xml", SVG.format(inside)) == ""
