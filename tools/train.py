"""Train a detector: MMDetection's own train.py, with its options.

python tools/train.py CONFIG [--work-dir DIR] [--resume [FILE]] [--amp]
    [--auto-scale-lr] [--cfg-options KEY=VALUE ...]
"""

import sys

from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool

if __name__ == '__main__':
    run_mmdet_tool('train.py', sys.argv[1:])
