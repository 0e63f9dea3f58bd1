"""Test a detector: MMDetection's own test.py, with its options.

python tools/test.py CONFIG CHECKPOINT [--work-dir DIR] [--out FILE.pkl]
    [--show-dir DIR] [--tta] [--cfg-options KEY=VALUE ...]
"""

import sys

from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool

if __name__ == '__main__':
    run_mmdet_tool('test.py', sys.argv[1:])
