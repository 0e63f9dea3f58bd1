"""Checks of a data set: what can be wrong, how it is found and mended."""
