"""Related work: rival measures of emergence, compared at equal statistical power."""
