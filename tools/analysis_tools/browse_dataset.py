"""Look at images and boxes: MMDetection's own tool, with its options.

python tools/analysis_tools/browse_dataset.py CONFIG [--output-dir DIR]
    [--not-show] [--show-interval S] [--cfg-options KEY=VALUE ...]
"""

import sys

from mmdet_cppe5.engine.mmdet_tools import run_mmdet_tool

if __name__ == '__main__':
    run_mmdet_tool('analysis_tools/browse_dataset.py', sys.argv[1:])
