"""The ``mmdet-cppe5`` command: argument parsing and exit codes only."""
