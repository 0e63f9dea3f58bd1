"""Scores of detections: computed, named, written as JSON and tables."""
