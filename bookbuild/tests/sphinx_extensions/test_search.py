"""Words of the search: symbols however they are written, and words with a number."""

import pytest
from py_mini_racer import mini_racer

from bookbuild.sphinx_extensions.search import English

TEXT = r"γ₄ and N² of layer 1 are \gamma_4 and N^{2}; code has gamma_4."


@pytest.mark.parametrize(
    ("asked", "word"),
    [("γ₄", "gamma4"), ("gamma_4", "gamma4"), ("N²", "N2"), ("N^2", "N2"), ("layer 1", "layer1")],
)
def test_a_query_is_split_into_words_of_the_index(asked: str, word: str) -> None:
    assert word in English({}).split(TEXT)
    with mini_racer() as engine:
        engine.eval(English.js_splitter_code)
        assert list(engine.call("splitQuery", asked)) == [word]
