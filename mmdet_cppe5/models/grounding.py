"""MM-Grounding-DINO with an answer to a missing text encoder."""

from __future__ import annotations

import importlib.util
from typing import Any

from mmdet.models.detectors import GroundingDINO
from mmdet.registry import MODELS


@MODELS.register_module()
class PromptedGroundingDINO(GroundingDINO):
    """``GroundingDINO`` that says what to install when its encoder lacks.

    The data set's class names are the prompts: MMDetection turns
    ``Face_Shield`` into the words "Face Shield" itself.

    Raises:
        ImportError: if the ``transformers`` package is not installed.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if importlib.util.find_spec('transformers') is None:
            raise ImportError(
                'MM-Grounding-DINO needs the transformers package for its '
                "text encoder; run pip install 'mmdet-cppe5[grounding]'."
            )
        super().__init__(*args, **kwargs)
