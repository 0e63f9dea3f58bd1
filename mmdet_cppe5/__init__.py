"""MMDetection plugin for CPPE-5: train, evaluate, compare, time detectors.

Importing the package is cheap: it pulls in neither torch nor MMDetection.
Configs register its classes in MMDetection's registries with
``custom_imports = dict(imports=['mmdet_cppe5.plugin'])``. In Python:

>>> from mmdet_cppe5 import evaluate, compare, report  # doctest: +SKIP
>>> evaluate('gt.json', 'dt.json')['AP']  # doctest: +SKIP
"""

import importlib
from typing import Any

__version__ = '0.1.0'
__all__ = ['compare', 'evaluate', 'report']


def __getattr__(name: str) -> Any:
    """Import the one-call functions when they are first asked for."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module('mmdet_cppe5.api'), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
