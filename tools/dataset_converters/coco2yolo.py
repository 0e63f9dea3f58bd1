"""Convert a COCO data set to the YOLO form.

The same as `mmdet-cppe5 convert to-yolo`; `--help` explains it.
"""

import sys

from mmdet_cppe5.cli.main import main

if __name__ == '__main__':
    sys.exit(main(['convert', 'to-yolo', *sys.argv[1:]]))
