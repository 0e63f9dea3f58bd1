"""A small data set drawn by this package: no downloads, no photographs.

Stylised scenes of medical staff in protective equipment, in the exact form
of CPPE-5, for trying things out, for the tests and for the documentation.
"""

from mmdet_cppe5.drawn.canvas import Box
from mmdet_cppe5.drawn.dataset import DrawnPaths, write_drawn_dataset
from mmdet_cppe5.drawn.scene import draw_scene

__all__ = ['Box', 'DrawnPaths', 'draw_scene', 'write_drawn_dataset']
