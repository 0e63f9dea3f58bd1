"""What the adapters to MMDetection need installed."""

from __future__ import annotations

import importlib.util

MODULES = ('torch', 'mmengine', 'mmcv', 'mmdet')


def require_framework() -> None:
    """Refuse to go on without MMDetection and what it stands on.

    Raises:
        ModuleNotFoundError: names what is missing and how to install it.
    """
    missing = [
        name for name in MODULES if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise ModuleNotFoundError(
            "Expected MMDetection for this package's data sets, metrics, "
            f'models and benchmark, but {", ".join(missing)} cannot be '
            'imported. Install torch, then one of two stacks: `pip install '
            "'mmdet-cppe5[framework]'`, or `pip install "
            "'mmdet-cppe5[onedl]'` for the maintained fork; `make setup` in "
            'a clone does it all. '
            'Evaluation from files needs none of them.',
            name=missing[0],
        )
