"""What the comparison of two builds of the site sees."""

from pathlib import Path

import pytest

from tools.newest_sphinx import differences, packages, violations

PAGE = (
    "<article><h1>T<a class='headerlink' href='#t'>#</a></h1><p>{text} \\[ x \\]</p>"
    "<img src='a.svg'/><a href='b.html'>b</a></article>"
)


def site(folder: Path, page: str | None) -> Path:
    (folder / "book").mkdir(parents=True)
    if page is not None:
        (folder / "book" / "a.html").write_text(page)
    return folder


@pytest.mark.parametrize(
    ("page", "line"),
    [
        (PAGE.format(text="same").replace("\\[ x \\]", "\\[x\\]"), None),
        (PAGE.format(text="other"), "'T"),
        (PAGE.format(text="same").replace("<img src='a.svg'/>", ""), "1 figures | 0"),
        (PAGE.format(text="same").replace("b.html", "c.html"), "the link b.html in one alone"),
        (None, "is missing"),
    ],
)
def test_a_page_that_differs_is_named(tmp_path: Path, page: str | None, line: str | None) -> None:
    before = site(tmp_path / "before", PAGE.format(text="same"))
    found = list(differences(before, site(tmp_path / "after", page)))
    assert bool(found) == (line is not None)
    assert all(text.startswith("book/a.html") for text in found)
    assert line is None or any(line in text for text in found)


def test_the_environment_has_sphinx_and_no_jupyter_book() -> None:
    names = packages()
    assert "sphinx" in names
    assert not any("jupyter-book" in name for name in names)
    assert sum(name.startswith("torch") for name in names) == 1


def test_a_page_that_breaks_a_rule_of_accessibility_is_named(tmp_path: Path, browser) -> None:
    page = "<!doctype html><html lang='en'><title>T</title><main><h1>T</h1>{}</main></html>"
    pale = "<p>Fine.</p><div style='background: #eee'><p style='color: {}'>Pale.</p></div>"
    after = site(tmp_path, page.format("<img src='a.svg'/>"))
    for name, body in ("b", "<p>Fine.</p>"), ("c", pale.format("#aaa")), ("d", pale.format("#333")):
        (after / "book" / f"{name}.html").write_text(page.format(body))
    found = [line.split(":") for line in violations(after, browser)]
    assert {(name, rule.split()[0]) for name, _, rule, *_ in found} == {
        ("book/a.html", "image-alt"),
        ("book/c.html", "color-contrast"),
    }
