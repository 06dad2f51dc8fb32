"""Related work: rival measures of emergence, held to equal statistical power."""
