"""The five classes of CPPE-5, in the official order and spelling."""

CLASSES = ('Coverall', 'Face_Shield', 'Gloves', 'Goggles', 'Mask')

# Okabe and Ito's colour-blind-safe set (https://jfly.uni-koeln.de/color/),
# without its yellow, which is lost on a white coverall. RGB, 0..255.
PALETTE = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 60, 140),
)
