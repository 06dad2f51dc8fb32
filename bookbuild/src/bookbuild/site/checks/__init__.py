"""Checks of what is published: pages, buttons, and no private part."""
