"""The code of each chapter, in a folder with the name of the chapter but without its number."""
