"""One module a chapter beyond the paper."""
