"""Records of time in data/: a cold build, and what stored runs take."""
