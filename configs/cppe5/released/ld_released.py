"""Localization Distillation with the stock detector.

The teacher's config is a path below the working directory, which must be a
clone of MMDetection, and its checkpoint is fetched when the model is built.
"""

_base_ = '../ld.py'

model = dict(
    type='KnowledgeDistillationSingleStageDetector',
    teacher_config='configs/gfl/gfl_r101_fpn_ms-2x_coco.py',
)
