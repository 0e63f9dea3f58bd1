"""The model zoo's facts: MMDetection's configs, our metafile, the table."""
