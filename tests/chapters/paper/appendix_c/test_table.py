"""The table of the nineteen, and how far measured ones are from predicted ones."""

import numpy as np

from chapters.paper.appendix_c.table import as_table
from emergence.subspace import NAMES


def test_the_table_has_a_row_a_parameter_and_two_columns_a_step():
    runs, law = np.stack([np.arange(19.0), np.arange(19.0) + 1]), np.arange(19.0)
    lines = as_table({10: (runs, law), 20: (runs, 2 * law)}, NAMES).splitlines()
    assert lines[0] == "| | step 10 | predicted | step 20 | predicted |"
    assert len(lines) == 21
    assert lines[4] == "| alpha_3 | 2.500 | 2.000 | 2.500 | 4.000 |"
