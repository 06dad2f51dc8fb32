"""Long runs of the chapter, which are stored: declared, computed, written and read."""
