"""Localization distillation whose teacher is fetched only to train."""

from __future__ import annotations

from typing import Any

from mmdet.models.detectors import KnowledgeDistillationSingleStageDetector
from mmdet.registry import MODELS
from mmdet.structures import SampleList
from mmengine.config import Config
from mmengine.runner import load_checkpoint
from torch import Tensor, nn

from mmdet_cppe5.zoo.upstream import upstream_config_path


@MODELS.register_module()
class LocalizationDistiller(KnowledgeDistillationSingleStageDetector):
    """MMDetection's distilling detector, usable outside its own clone.

    Losses and student are the stock ones. Different are two things: the
    teacher's config may be given as ``'mmdet::...'`` and is then read from the
    installed MMDetection, and the teacher's checkpoint is read before the
    first loss instead of when the model is built, so that testing does not
    download it.

    Args:
        teacher_config: a config or its path, or ``'mmdet::<path>'``.
        teacher_ckpt: path or URL of the teacher's weights; ``None`` keeps its
            random ones.
        **kwargs: as in the stock detector.
    """

    def __init__(
        self,
        *args: Any,
        teacher_config: dict | str,
        teacher_ckpt: str | None = None,
        **kwargs: Any,
    ) -> None:
        if str(teacher_config).startswith('mmdet::'):
            teacher_config = Config.fromfile(
                upstream_config_path(teacher_config[len('mmdet::') :])
            )
        super().__init__(
            *args, teacher_config=teacher_config, teacher_ckpt=None, **kwargs
        )
        self._unread_teacher = teacher_ckpt

    def loss(
        self, batch_inputs: Tensor, batch_data_samples: SampleList
    ) -> dict:
        """Compute the student's losses, the teacher read at the first call.

        Args:
            batch_inputs: normalised images, [N, 3, H, W].
            batch_data_samples: their annotations.

        Returns:
            Loss tensors by name.
        """
        if self._unread_teacher is not None:
            load_checkpoint(
                self.teacher_model, self._unread_teacher, map_location='cpu'
            )
            self._unread_teacher = None
        return super().loss(batch_inputs, batch_data_samples)

    def train(self, mode: bool = True) -> nn.Module:
        """Set the training mode, and return the module as torch's does."""
        super().train(mode)
        return self
