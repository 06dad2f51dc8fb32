"""Wrong signs can be planted: their texts are in the code, once each, and so are their tests."""

import ast

import pytest

from tools.planted_signs import BEYOND, PLANTS, TESTS
from tools.this_book import ROOT


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.path}: {plant.right}")
def test_a_sign_is_in_the_code_and_can_be_wrong(plant):
    source = (ROOT / BEYOND / plant.path).read_text(encoding="utf-8")
    assert source.count(plant.right) == 1
    wrong = source.replace(plant.right, plant.wrong)
    assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(source))
    assert (ROOT / TESTS / plant.tests.split()[0]).is_file()


def test_there_are_twenty_signs_in_all_code_that_encloses_numbers():
    assert len(set(PLANTS)) == len(PLANTS) == 20
    assert len({plant.path for plant in PLANTS}) >= 10
