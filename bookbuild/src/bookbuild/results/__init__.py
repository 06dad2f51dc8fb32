"""How results are kept: keys, sealed files, the cache of the science, and archives."""
