"""MMDetection plugin for CPPE-5: train, evaluate, compare, time detectors.

Importing the package is cheap: it pulls in neither torch nor MMDetection.
Configs register its classes in MMDetection's registries with
``custom_imports = dict(imports=['mmdet_cppe5.plugin'])``.
"""

__version__ = '0.1.0'
