"""A page runs the scripts that were built into it, and no others."""

import base64
import hashlib

from bookbuild.site.policy import add_policies

PAGE = """<html><head>
<meta charset="utf-8">
<script>let a = 1;</script><script src="own.js"></script><script type="text/x-data">b</script>
</head><body><button onclick="f(&quot;x&quot;)"></button></body></html>"""
CONTENT = """<html><head><meta charset="utf-8"><script>let a = 1;</script></head><body><article>
<script>let stranger = 1;</script><b onclick="stranger()">a</b></article></body></html>"""
OTHER = '<html><head><meta charset="utf-8"></head><body>an onclick="no tag"</body></html>'


def sha(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_scripts_and_handlers_are_named_by_their_hashes_and_nothing_else_changes(tmp_path):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "other.html").write_text(OTHER, encoding="utf-8")
    add_policies(tmp_path)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if "Content-Security-Policy" not in line]
    assert lines == PAGE.splitlines()
    assert page.index("Content-Security-Policy") < page.index("<script")
    allowed = page.partition("script-src ")[2].partition('"')[0].split()
    assert allowed[:2] == ["'self'", "'unsafe-hashes'"]
    assert set(allowed[2:]) == {sha("let a = 1;"), sha('f("x")')}
    other = (tmp_path / "other.html").read_text(encoding="utf-8")
    assert other.partition("script-src ")[2].partition('"')[0].split()[2:] == [sha('f("x")')]


def test_what_stands_in_an_article_is_allowed_nothing(tmp_path):
    (tmp_path / "page.html").write_text(CONTENT, encoding="utf-8")
    add_policies(tmp_path)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    allowed = page.partition("script-src ")[2].partition('"')[0].split()
    assert allowed == ["'self'", sha("let a = 1;")]
