"""A page runs the scripts that were built into it, and no others; tests/site has the rest."""

import base64
import hashlib
from pathlib import Path

from bookbuild.site.pages import add_policies

PAGE = """<html><head>
<meta charset="utf-8">
<script>let a = 1;</script><script src="own.js"></script><script type="text/x-data">b</script>
</head><body><button onclick="f(&quot;x&quot;)"></button><article>
<script>let stranger = 1;</script><b onclick="stranger()">a</b></article></body></html>"""
OTHER = '<html><head><meta charset="utf-8"></head><body>an onclick="no tag"</body></html>'


def test_scripts_above_the_article_are_named_by_their_hashes_and_no_others(tmp_path: Path) -> None:
    def policy(name: str) -> list[str]:
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert "<script" not in page.partition("Content-Security-Policy")[0]
        return page.partition("script-src ")[2].partition('"')[0].split()

    def sha(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "other.html").write_text(OTHER, encoding="utf-8")
    add_policies(tmp_path)
    lines = (tmp_path / "page.html").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "Content-Security-Policy" not in line] == PAGE.splitlines()
    always = ["'self'", "'unsafe-hashes'"]  # handlers of all pages, for the search reads them
    assert policy("page.html") == [*always, *sorted((sha("let a = 1;"), sha('f("x")')))]
    assert policy("other.html") == [*always, sha('f("x")')]
