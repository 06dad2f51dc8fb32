"""The book on a GPU that is emulated: what would fail there fails here."""
