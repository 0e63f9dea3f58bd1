"""MMDetection's runtime; keeps the best checkpoint by CPPE-5's AP.

A report as one HTML file, off by default:
``--cfg-options default_hooks.report.test=True`` writes it after a test,
``default_hooks.report.val=True`` after every validation, and
``default_hooks.report.to_visualizer=True`` sends its figures to TensorBoard
or whatever the visualizer writes to.
"""

_base_ = 'mmdet::_base_/default_runtime.py'

default_hooks = dict(
    checkpoint=dict(save_best='cppe5/AP', rule='greater', max_keep_ckpts=2),
    report=dict(type='ReportHook', test=False, val=False),
)
