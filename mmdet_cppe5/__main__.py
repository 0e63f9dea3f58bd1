"""``python -m mmdet_cppe5``, the same as the ``mmdet-cppe5`` command."""

import sys

from mmdet_cppe5.cli.main import main

sys.exit(main())
