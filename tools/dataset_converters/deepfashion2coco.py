"""Convert raw DeepFashion2 annotations to the COCO form.

The same as `mmdet-cppe5 deepfashion2-convert`; `--help` explains it.
"""

import sys

from mmdet_cppe5.cli.main import main

if __name__ == '__main__':
    sys.exit(main(['deepfashion2-convert', *sys.argv[1:]]))
