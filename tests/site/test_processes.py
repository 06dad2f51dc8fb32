"""Tests of an address run in one process, wherever the others go."""

import pytest

from addresses import ByAddress


@pytest.mark.parametrize(
    ("test", "scope"),
    [
        ("tests/site/test_pages.py::test_no_page_has[file-a faulty formula]", "file"),
        ("tests/site/test_reading.py::test_a_menu[http-book/explore.html]", "http"),
        ("tests/site/test_nineteen.py::test_modules_agree", "site"),
        ("tests/book/test_rows.py::test_x[file]", "tests/book/test_rows.py::test_x[file]"),
    ],
)
def test_scope_of_a_test(test, scope):
    assert ByAddress._split_scope(None, test) == scope
