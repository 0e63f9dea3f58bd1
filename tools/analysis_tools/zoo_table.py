"""Write the model zoo's table into Markdown files, from the metafile.

python tools/analysis_tools/zoo_table.py [--check] [FILE ...]

The table goes between <!-- zoo:begin --> and <!-- zoo:end -->. Without files
it is configs/cppe5/README.md. With --check nothing is written,
and the exit code is 1 if a table is not the metafile's.
"""

import argparse
import sys
from pathlib import Path

from mmdet_cppe5.zoo.table import stale, update

ROOT = Path(__file__).resolve().parents[2]
FILES = (ROOT / 'configs' / 'cppe5' / 'README.md',)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('files', nargs='*', type=Path, metavar='FILE')
    parser.add_argument('--check', action='store_true')
    args = parser.parse_args(arguments)
    files = args.files or FILES
    try:
        if not args.check:
            for path in files:
                update(path, ROOT)
            return 0
        old = [path for path in files if stale(path, ROOT)]
    except (OSError, ValueError) as error:
        sys.exit(f'zoo_table.py: {error}')
    for path in old:
        print(f"{path} is not the metafile's table; run make zoo-table.")
    return 1 if old else 0


if __name__ == '__main__':
    sys.exit(main())
