"""The five classes of CPPE-5, in the official order and spelling."""

CLASSES = ('Coverall', 'Face_Shield', 'Gloves', 'Goggles', 'Mask')

# RGB, 0..255. Found by search: every colour has a contrast of at least 3:1
# against a white coverall (the least WCAG 2.1 asks of graphics) and of 2:1
# against black, and any two stay at least 23 apart (CIEDE2000) in normal
# sight and under simulated protanopia, deuteranopia and tritanopia.
PALETTE = (
    (16, 166, 140),
    (216, 92, 24),
    (8, 80, 68),
    (182, 112, 250),
    (104, 10, 172),
)
