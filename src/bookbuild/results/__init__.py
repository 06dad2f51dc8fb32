"""Results as they are kept: keys, sealed files, the cache of the science, an inventory."""
