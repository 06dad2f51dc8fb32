"""Systems around the paper, one folder each, with settings, networks, training and measures."""
