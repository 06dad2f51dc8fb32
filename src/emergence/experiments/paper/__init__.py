"""One module a chapter of the paper's part."""
