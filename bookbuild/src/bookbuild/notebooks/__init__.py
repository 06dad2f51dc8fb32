"""The notebooks of readers: the published branch, plain prose, and the outputs of a chapter."""
