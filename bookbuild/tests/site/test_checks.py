"""Each fault that Sphinx does not see is found; scripts and formulas of pages."""

import base64
import hashlib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbuild.errors import BookError
from bookbuild.results.executed import ExecutedChapter
from bookbuild.site.checks import check_labels, check_notebooks, check_site, private_parts
from bookbuild.site.formulas import add_formulas
from bookbuild.site.pages import add_policies
from bookbuild.site.scripts import join, join_all

PAGE = """<html><head><link rel="stylesheet" href="book.css"></head><body><article>
<a id="here" href="https://arxiv.org/abs/2511.01033">paper</a> <a href="#here">up</a>
<a href="other.html#there">other</a> <a href="folder/">folder</a>
<img src="plot.svg" alt="The loss falls to a half at once."> </article><img src="plot.svg">
<script>fetch("local.json")</script></body></html>"""


def site(folder, page):
    """Write a site with one page into a folder, and files of the same names beside that folder."""
    for name in ("other.html", "plot.svg"):
        (folder / name).write_text('<p id="there"></p>', encoding="utf-8")
    folder /= "site"
    (folder / "folder").mkdir(parents=True)
    for name in ("other.html", "folder/index.html"):
        (folder / name).write_text('<p id="there"></p>', encoding="utf-8")
    (folder / "plot.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "book.css").write_text("p { color: red }", encoding="utf-8")
    (folder / "page.html").write_text(page, encoding="utf-8")
    return folder


def test_a_sound_page_passes(tmp_path):
    assert check_site(site(tmp_path, PAGE)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('href="book.css"', 'href="https://cdn.org/book.css"', "request https://cdn.org/book.css"),
        ("<script>", '<script src="http://cdn.org/x.js">', "request http://cdn.org/x.js"),
        ("</head>", "<style>p{background:url(https://a.org/b.png)}</style></head>", "a.org/b.png"),
        ('src="plot.svg" alt', 'src="lost.svg" alt', "lost.svg leads nowhere"),
        ('alt="The loss falls to a half at once."', "", "no alt text"),
        ("The loss falls to a half at once.", "_images/a_long_file_name.svg", "no alt text"),
        ('"other.html#there"', '"lost.html"', "lost.html leads nowhere"),
        ('"other.html#there"', '"other.html#gone"', "anchor that does not exist"),
        ('"#here"', '"#gone"', "anchor that does not exist"),
        ('"other.html#there"', '"../other.html#there"', "out of the folder of the site"),
        ('"other.html#there"', '"/other.html#there"', "out of the folder of the site"),
        ('src="plot.svg" alt', 'src="../plot.svg" alt', "out of the folder of the site"),
    ],
)
def test_a_fault_is_found(tmp_path, old, new, fault):
    assert old in PAGE
    faults = check_site(site(tmp_path, PAGE.replace(old, new, 1)))
    assert len(faults) == 1
    assert faults[0].startswith("page.html: ")
    assert fault in faults[0]


PRIVATE = new_output("stream", text="see /srv/book/src/x.py")


@pytest.mark.parametrize(
    ("outputs", "faults"),
    [([], []), ([PRIVATE], ["an output of code cell 2 names the local folder /srv/book/."])],
)
def test_faults_of_a_notebook_are_found(tmp_path, outputs, faults):
    cells = [new_code_cell("1"), new_code_cell("2", outputs=outputs)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "page.ipynb")
    result = list(check_notebooks(tmp_path, [Path("/srv/book")]))
    assert result == [f"page: {fault}" for fault in faults]


ROOT = (Path("/srv/book"),)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("see /srv/book/src/x.py", "names the local folder /srv/book/"),
        ("/tmp/x", "names the local folder /tmp/"),
        ("-----BEGIN RSA PRIVATE KEY-----", "holds a private key"),
        ("File /home/anna/x.py", "holds a home folder"),
        ("File /Users/anna/x.py", "holds a home folder"),
        (r"File C:\Users\anna\x.py", "holds a home folder of Windows"),
        (r"File C:\\Users\\anna\\x.py", "holds a home folder of Windows"),
        ("it is opensesame!", "holds the value of the environment variable BOOK_TOKEN"),
    ],
)
def test_what_is_private_is_found(monkeypatch, text, part):
    monkeypatch.setenv("BOOK_TOKEN", "opensesame!")
    monkeypatch.setenv("TMPDIR", "/tmp")
    result = list(private_parts(text, ROOT))
    assert part in result
    assert not any("opensesame" in sentence for sentence in result)


WITH_SCRIPTS = """<html><head>
<meta charset="utf-8">
<script>let a = 1;</script><script src="own.js"></script><script type="text/x-data">b</script>
</head><body><button onclick="f(&quot;x&quot;)"></button><article>
<script>let stranger = 1;</script><b onclick="stranger()">a</b></article></body></html>"""
WITHOUT_SCRIPTS = '<html><head><meta charset="utf-8"></head><body>an onclick="no tag"</body></html>'


def test_scripts_above_the_article_are_named_by_their_hashes_and_no_others(tmp_path):
    def policy(name):
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert "<script" not in page.partition("Content-Security-Policy")[0]
        return page.partition("script-src ")[2].partition('"')[0].split()

    def sha(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    (tmp_path / "page.html").write_text(WITH_SCRIPTS, encoding="utf-8")
    (tmp_path / "other.html").write_text(WITHOUT_SCRIPTS, encoding="utf-8")
    add_policies(tmp_path)
    lines = (tmp_path / "page.html").read_text(encoding="utf-8").splitlines()
    assert [
        line for line in lines if "Content-Security-Policy" not in line
    ] == WITH_SCRIPTS.splitlines()
    always = ["'self'", "'unsafe-hashes'"]  # handlers of all pages, for the search reads them
    assert policy("page.html") == [*always, *sorted((sha("let a = 1;"), sha('f("x")')))]
    assert policy("other.html") == [*always, sha('f("x")')]


LEAF = """/** What
 * others import. */
export const ONE = 1; // no more
let count = 0; // it's "zero"
export function next() {
  // and once more
  count += ONE;
  return `${count} // of many`;
}
"""

BARE = """const ONE = 1;
let count = 0; // it's "zero"
function next() {
count += ONE;
return `${count} // of many`;
}
"""


def write(folder, **modules):
    """Write modules by their names, and return their folder."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def test_a_module_comes_after_what_it_imports_and_loses_its_keywords(tmp_path):
    root = 'import { ONE, next } from "./leaf.js";\nnext(ONE);\n'
    join_all(write(tmp_path, leaf=LEAF, root=root, other=root))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.js", "root.js"]
    script = (tmp_path / "root.js").read_text(encoding="utf-8")
    assert script.index('["leaf.js"] ??=') < script.index('["root.js"] ??=')
    assert "return { ONE, next };" in script
    assert 'const { ONE, next } = globalThis.bookModules["leaf.js"];' in script
    assert "import {" not in script
    assert BARE in script
    assert "export " not in script


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('import * as leaf from "./leaf.js";', "import"),
        ('import "./leaf.js";', "import"),
        ("export let count = 0;", "export"),
        ("const one = 1;\nexport { one };", "export"),
        ('import { ONE } from "../../../leaf.js";', "does not exist"),
    ],
)  # fmt: skip
def test_what_is_not_known_ends_the_build(tmp_path, text, complaint):
    write(tmp_path, leaf=LEAF, root=f"{text}\n")
    with pytest.raises(BookError, match=complaint):
        join(tmp_path / "root.js", tmp_path)


def test_a_misplaced_label_is_found():
    files = {"figures/a.json": b'{"faults": ["a.svg: the label \'x\' lies on a curve"]}',
             "figures/b.json": b'{"faults": []}'}  # fmt: skip
    entries = {"one": ExecutedChapter(files, {})}
    assert [*check_labels(entries)] == ["one: a.svg: the label 'x' lies on a curve."]


FORMULAS = """<p>The <span class="math">\\(N^2\\)</span>, <code>\\(kept\\)</code>:</p>
<div class="math"><span class="eqno">(1)</span>\\[\\begin{split}a&lt;b\\\\c\\end{split}\\]</div>
"""


@pytest.fixture
def formulas(tmp_path):
    (tmp_path / "_static" / "fonts").mkdir(parents=True)
    (tmp_path / "page.html").write_text(FORMULAS, encoding="utf-8")
    return tmp_path


def test_pages_carry_formulas_that_need_no_script(formulas):
    add_formulas(formulas)
    page = (formulas / "page.html").read_text(encoding="utf-8")
    assert page.count("<mjx-container") == 2
    assert "<msup><mi>N</mi><mn>2</mn></msup>" in page
    assert page.count('tabindex="0"') == page.count('display="true"><mjx-math') == 1
    assert "<mo>&lt;</mo>" in page
    assert page.count("</span>,</span>") == 1  # a comma stays on the line of its formula
    assert "<code>\\(kept\\)</code>" in page
    styles = (formulas / "_static" / "formulas.css").read_text(encoding="utf-8")
    assert ".mjx-c32::before" in styles
    assert (formulas / "_static" / "fonts" / "formulas" / "MathJax_Main-Regular.woff").is_file()


def test_a_formula_that_cannot_be_set_is_named_with_its_page(formulas):
    (formulas / "page.html").write_text(FORMULAS.replace("N^2", "\\unknown"), encoding="utf-8")
    with pytest.raises(BookError, match=r"page\.html: Undefined .*'\\\\unknown'"):
        add_formulas(formulas)
