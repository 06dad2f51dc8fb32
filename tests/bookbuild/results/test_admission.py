"""Outputs are cleaned before a page sees them, whoever made them."""

import json
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbuild.pipeline import Result
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results.admission import ACTIVE, GLUED, admitted, sanitised, svg_faults
from bookbuild.results.store import DamagedError, Store
from bookbuild.source.chapters import read_chapter
from tools.toy_book import LINE, Toy

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


@pytest.mark.parametrize(
    ("check", "sound"),
    [
        ({"what": "slopes", "at_least": 1}, True),
        ({"what": "slopes", "at_least": "one"}, False),
        ({"what": "slopes", "within": [1]}, False),
        ({"what": "slopes", "holds": True}, False),
        ({"what": "slopes"}, False),
        ({"what": 7, "at_least": 1}, False),
        ({"at_least": 1}, False),
        ("slopes", False),
        (None, False),
    ],
)
def test_a_published_measure_with_a_malformed_check_is_refused(
    built_once: tuple[Toy, Result], check: Any, sound: bool
) -> None:
    toy, _ = built_once
    settings = toy.settings()
    stored, remark = Store(settings.results).get(toy.key(LINE))
    assert stored, remark
    measures = json.loads(stored.files[MEASURES_FILE])
    measures["slope"] |= {"judged": False, "check": check}
    files = {**stored.files, MEASURES_FILE: json.dumps(measures).encode()}
    with nullcontext() if sound else pytest.raises(DamagedError, match="no executed chapter"):
        admitted(replace(stored, files=files), read_chapter(toy.root, LINE), settings)
