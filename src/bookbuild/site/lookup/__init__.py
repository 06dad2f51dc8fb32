"""What scripts look up in other pages: cards of what is linked to, text, names of figures."""
