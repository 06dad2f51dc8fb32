"""Random walks on a line: the library of a tiny book."""
