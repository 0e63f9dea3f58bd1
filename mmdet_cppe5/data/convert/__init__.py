"""Converters between COCO and the other forms of detection data."""
