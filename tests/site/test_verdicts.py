"""The filters of the verdicts: what they show, what the address keeps, life without scripts."""

import pytest

from tools.browser import opened

ROWS = "table.ledger tbody tr"


@pytest.fixture
def verdicts(page):
    """Open the page with a query."""

    def ready(query=""):
        seen = page(f"book/verdicts.html{query}")
        seen.wait_for_selector("form.ledger-filter output")
        return seen

    return ready


def shown(page, selector=ROWS):
    return page.locator(f"{selector}:visible").count()


def test_all_claims_are_shown_first(verdicts, claims):
    page = verdicts()
    assert shown(page) == len(claims)
    assert page.locator("form output").text_content() == f"{len(claims)} of {len(claims)} claims"


def test_filters_combine_and_empty_sections_go(verdicts, claims):
    page = verdicts()
    page.get_by_label("Kind").select_option("new")
    new = [claim for claim in claims if claim["kind"] == "new"]
    assert shown(page) == len(new)
    page.get_by_label("Section").select_option(label="The first integral")
    wanted = [claim for claim in new if claim["chapter"] == "beyond/02_first_integral"]
    assert shown(page) == len(wanted) > 0
    assert shown(page, "section:has(table.ledger) h2") == 1
    assert "kind=new" in page.url


def test_rows_are_found_by_when_their_expectation_was_written(verdicts, preregistration):
    page = verdicts("?preregistration=changed")
    assert page.get_by_label("Expectation").input_value() == "changed"
    assert shown(page) == sum(
        row["preregistration"] == "changed" for row in preregistration.values()
    )


def test_kinds_are_counted_apart(verdicts, claims):
    page = verdicts()
    numbers = page.locator("dl.verdict-counts").first.locator("dt").all_text_contents()
    assert numbers == ["Claims of the paper", "New results", "Companions", "Errata of the paper"]
    link = page.locator("dl.verdict-counts a[href*='kind=erratum']").first
    told = int(link.locator("b").text_content())
    link.click()
    page.wait_for_selector("form.ledger-filter output")
    assert shown(page) == told == sum(claim["kind"] == "erratum" for claim in claims)


def test_an_address_sets_the_filter(verdicts, claims):
    page = verdicts("?kind=new")
    assert page.get_by_label("Kind").input_value() == "new"
    assert shown(page) == sum(claim["kind"] == "new" for claim in claims)
    assert shown(verdicts("?kind=none&other=1")) == len(claims)


def test_the_keyboard_suffices(verdicts, claims):
    page = verdicts()
    page.get_by_label("Kind").focus()
    page.keyboard.press("ArrowDown")
    assert shown(page) < len(claims)


def test_without_scripts_all_claims_stand(address, browser, claims):
    with opened(browser, java_script_enabled=False) as page:
        page.goto(f"{address}book/verdicts.html")
        assert shown(page) == len(claims)
        assert page.locator("form.ledger-filter").count() == 0
