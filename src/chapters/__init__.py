"""The code of each chapter, in a folder that is named as the chapter is, without its number."""
