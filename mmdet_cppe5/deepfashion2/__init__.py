"""What DeepFashion2 is: categories, landmarks, and its files' formats.

Nothing here needs torch or MMDetection.
"""
