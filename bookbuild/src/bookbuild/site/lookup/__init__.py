"""What scripts read from other pages: cards for links, text, and the names of figures."""
