"""The verdicts: folds, filters, what the address keeps, lasting addresses, life without scripts."""

import json
import re

import pytest

from browser import WIDE, opened

ROWS = "details.claim"
MOST_SCREENS = 15  # of the page as it loads, on a wide window
HEIGHT = "() => document.documentElement.scrollHeight"


@pytest.fixture
def verdicts(page):
    """Open the page with a query."""

    def ready(query=""):
        seen = page(f"book/verdicts.html{query}")
        seen.wait_for_selector("form.ledger-filter output")
        return seen

    return ready


def counted(page):
    """How many rows the filters leave, in open chapters or in folded ones."""
    return page.locator(f"{ROWS}:not([hidden])").count()


def of_figure(claims, number):
    return [
        claim
        for claim in claims
        if claim["kind"] == "paper" and re.search(rf"Figs?\. (\d and )?{number}\b", claim["source"])
    ]


def test_all_claims_are_there_first_and_folded(verdicts, claims):
    page = verdicts()
    assert counted(page) == len(claims)
    assert page.locator("form output").text_content() == f"{len(claims)} of {len(claims)} claims"
    assert page.locator(f"{ROWS}:visible").count() == 0
    assert page.evaluate(HEIGHT) <= MOST_SCREENS * WIDE["height"]


def test_filters_combine_and_empty_chapters_go(verdicts, claims):
    page = verdicts()
    page.get_by_label("Kind").select_option("new")
    new = [claim for claim in claims if claim["kind"] == "new"]
    assert counted(page) == len(new)
    page.get_by_label("Chapter").select_option(label="The first integral")
    wanted = [claim for claim in new if claim["chapter"] == "beyond/02_first_integral"]
    assert counted(page) == len(wanted) > 0
    assert page.locator(f"{ROWS}:visible").count() == len(wanted)
    assert page.locator("details.claims:visible").count() == 1
    assert "kind=new" in page.url
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("(n) => document.querySelector('form output').textContent.startsWith(n)",
                           arg=str(len(claims)))  # fmt: skip
    assert "?" not in page.url


def test_any_figure_s_verdict_is_two_clicks_from_the_front_page(page, claims):
    seen = page("book/index.html")
    seen.locator("article a[href$='verdicts.html#by-figure-and-theorem']").first.click()
    seen.wait_for_selector(".matrix")
    entry = seen.locator(".matrix li", has=seen.get_by_role("link", name="Figure 4", exact=True))
    badges = entry.locator("a.verdict:not(.sharper, .erratum)")
    output = sum(int(text) for text in badges.locator("b").all_text_contents())
    assert output == len(of_figure(claims, 4))
    badges.first.click()
    seen.wait_for_selector("form.ledger-filter output")
    assert seen.locator("#claim-figure-4-similar").is_visible()


@pytest.mark.parametrize(
    ("name", "item", "source"),
    [
        ("05_emergence", "Figure 4", r"Figs?\. (\d and )?4"),
        ("06_full_dynamics", "Theorem 2", r"Theorem 2"),
    ],
)
def test_figures_and_statements_show_their_verdicts(page, claims, name, item, source):
    seen = page(f"book/paper/{name}.html")
    line = seen.locator(".claims-about", has_text=f"Claims about {item}:")
    output = sum(
        int(text)
        for text in line.locator("a.verdict:not(.sharper, .erratum) b").all_text_contents()
    )
    named = [c for c in claims if c["kind"] == "paper" and re.search(source, c["source"])]
    assert output == len(named) > 0
    assert "toy sizes" in line.text_content()
    line.locator("a.verdict").first.click()
    seen.wait_for_selector("form.ledger-filter output")
    assert seen.locator(f"#claim-{named[0]['id']}").is_visible()


def test_a_link_to_a_claim_opens_its_row(verdicts, address):
    page = verdicts("#claim-corollary-1")
    row = page.locator("#claim-corollary-1")
    assert row.locator("dl").is_visible()
    page.goto(f"{address}book/verdicts.html?kind=new#claim-corollary-1")
    page.reload()
    page.wait_for_selector("#claim-corollary-1 dl")  # which the filter would have hidden


def test_each_claim_has_a_lasting_address(page, address, site, claims):
    assert {path.stem for path in (site / "claims").iterdir()} == {c["id"] for c in claims}
    rows = json.loads((site / "data" / "ledger.json").read_text(encoding="utf-8"))
    assert all((site / row["address"]).is_file() for row in rows)
    seen = page("book/index.html")
    seen.goto(f"{address}claims/corollary-1.html", wait_until="commit")  # it leads on at once
    seen.wait_for_url("**/book/verdicts.html#claim-corollary-1")
    seen.wait_for_selector("#claim-corollary-1 dl")


def test_without_scripts_all_claims_stand(address, browser, claims):
    with opened(browser, java_script_enabled=False) as page:
        page.goto(f"{address}book/verdicts.html")
        assert page.locator(ROWS).count() == len(claims)
        assert page.locator("form.ledger-filter").count() == 0
        page.locator("details.claims > summary").first.click()
        assert page.locator(f"{ROWS}:visible").count() > 0
