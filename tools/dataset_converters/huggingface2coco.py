"""Convert Hugging Face parquet files to the COCO form.

The same as `mmdet-cppe5 convert from-parquet`; `--help` explains it.
"""

import sys

from mmdet_cppe5.cli.main import main

if __name__ == '__main__':
    sys.exit(main(['convert', 'from-parquet', *sys.argv[1:]]))
