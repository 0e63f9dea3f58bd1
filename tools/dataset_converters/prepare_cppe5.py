"""Download CPPE-5, check it and put it in place.

The same as `mmdet-cppe5 prepare`; `--help` explains it.
"""

import sys

from mmdet_cppe5.cli.main import main

if __name__ == '__main__':
    sys.exit(main(['prepare', *sys.argv[1:]]))
