"""Data work without a framework: get, convert, check, count, split, draw."""
