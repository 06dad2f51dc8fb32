"""The systems around the paper, a folder each, with settings, networks, training and measures."""
