"""Convert Ultralytics predictions.json to COCO results.

The same as `mmdet-cppe5 convert from-ultralytics`; `--help` explains it.
"""

import sys

from mmdet_cppe5.cli.main import main

if __name__ == '__main__':
    sys.exit(main(['convert', 'from-ultralytics', *sys.argv[1:]]))
