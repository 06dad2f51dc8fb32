"""Formulas are set when the site is built, by MathJax in an engine of JavaScript without a browser.

A page carries its formulas as HTML, beside MathML for those who hear them. It loads the styles and
fonts that they need, and no script.
"""

import html
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from py_mini_racer import mini_racer

from bookbuild.errors import raise_if_any

from .checks import page_names

PARTS = (
    "loader.js",
    "core.js",
    "adaptors/liteDOM.js",
    "input/tex-full.js",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "a11y/assistive-mml.js",
)
FONTS = "output/chtml/fonts/woff-v2"
# An unknown command is an error, for the package `noundefined` is not among these.
ENGINE = """
const { adaptors, a11y, handlers, input, mathjax, output } = MathJax._;
const adaptor = adaptors.liteAdaptor.liteAdaptor();
a11y["assistive-mml"].AssistiveMmlHandler(handlers.html_ts.RegisterHTMLHandler(adaptor));
const font = new output.chtml.fonts.tex_ts.TeXFont({ fontURL: "fonts/formulas" });
const chtml = new output.chtml_ts.CHTML({ font, adaptiveCSS: true });
const tex = new input.tex_ts.TeX({ packages: ["base", "ams", "boldsymbol", "newcommand"] });
const page = mathjax.mathjax.document("", { InputJax: tex, OutputJax: chtml });
const set = (formula, display) => adaptor.outerHTML(page.convert(formula, { display }));
const styles = () => adaptor.textContent(chtml.styleSheet(page));
"""
# As Sphinx writes them; what follows one in a sentence must not begin the next line.
FORMULA = re.compile(
    r'(<span class="[^"]*\bmath\b[^"]*">)\\\(([^<]*)\\\)</span>([,.;:!?)\]”’]*)'
    r"|\\\[([^<]*)\\\](?=\s*</div>)"
)
FAULT = re.compile(r'data-mjx-error="([^"]*)"')
# What MathJax writes at each formula or letter, and the styles below say once or not at all.
SPARE = re.compile(
    r' class="(?:MathJax| MJX-TEX|mjx-(?!c[\dA-F]|tall)[^"]*)"| style="position: relative;"'
    r'| (?:jax|texclass|unselectable|xmlns|data-mjx-[\w-]+)="[^"]*"| display="inline"'
    r'| (?:stretchy|minsize|maxsize|scriptlevel|displaystyle)="[^"]*"'  # of what is read aloud
)
QUOTED = re.compile(r'="([\w.-]+)"')  # HTML needs no quotes around such a value
EVERY = """
mjx-container { position: relative; font-size: 106%; } /* letters as large as the text's */
.unbroken { white-space: nowrap; }
"""
STYLES = Path("_static", "formulas.css")  # defaults.yml names it


def add_formulas(site: Path) -> None:
    """Set the formulas of all pages, and write their styles; BookError for unknown commands."""
    faults: dict[str, None] = {}
    with _engine() as (convert, styles):
        for name in page_names(site):

            def formula(match: re.Match[str], name: str = name) -> str:
                start, inline, after, display = match.groups()
                tex = html.unescape(display if start is None else inline).strip()
                made = convert(tex, start is None)
                if fault := FAULT.search(made):
                    faults[f"{name}: {html.unescape(fault[1])} in the formula {tex!r}."] = None
                if start is None:
                    return made
                made = f"{start}{made}</span>"
                return f'<span class="unbroken">{made}{after}</span>' if after else made

            page = site / name
            page.write_text(
                FORMULA.sub(formula, page.read_text(encoding="utf-8")), encoding="utf-8"
            )
        text = styles().replace('[jax="CHTML"]', ":not([jax])").replace(".MJX-TEX {", "mjx-math {")
    raise_if_any(faults)
    (site / STYLES).write_text(text + EVERY, encoding="utf-8")
    shutil.copytree(_mathjax() / FONTS, site / "_static" / "fonts" / "formulas")


@contextmanager
def _engine() -> Iterator[tuple[Callable[[str, bool], str], Callable[[], str]]]:
    """Yield what sets a formula, and what returns the styles of all that were set."""
    with mini_racer() as engine:
        engine.eval("var MathJax = {}")
        for part in PARTS:
            engine.eval((_mathjax() / part).read_text(encoding="utf-8"))
        engine.eval(ENGINE)

        @cache
        def convert(tex: str, is_display: bool) -> str:
            made = str(engine.call("set", tex, is_display))
            if FAULT.search(made):
                return made
            # one that scrolls is reached by the keyboard
            focus = '<mjx-container tabindex="0"' if is_display else "<mjx-container"
            return QUOTED.sub(r"=\1", SPARE.sub("", made).replace("<mjx-container", focus, 1))

        yield convert, lambda: str(engine.call("styles"))


@cache
def _mathjax() -> Path:
    package = distribution("sphinx-mathjax-offline")
    return Path(str(package.locate_file("sphinx-mathjax-offline/static/mathjax")))
