"""What is measured and how, apart from the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import torch

from mmdet_cppe5.core.settings import listed

PRECISIONS = {
    'fp32': None,
    'fp16': torch.float16,
    'bf16': torch.bfloat16,
}


@dataclass(frozen=True)
class BenchmarkSettings:
    """How a detector is run while it is timed.

    Args:
        device: a torch device, such as ``cpu`` or ``cuda:0``.
        batch_size: images in one forward pass.
        precision: ``fp32``, or ``fp16``/``bf16`` for autocast (AMP).
        channels_last: whether weights and inputs lie in NHWC order.
        compile: whether backbone and neck go through ``torch.compile``; the
            compilation falls into the warm-up.
        fuse_conv_bn: whether batch norms are folded into convolutions.
        input_size: (width, height) that every image is resized to, aspect
            ratio not kept; None leaves the config's own test pipeline.
        synthetic: number of noise images of ``input_size`` to use in place
            of the config's data set; None uses the data set.
        include_loading: whether FPS counts loading too, one worker in the
            main process; MMDetection's FPS leaves it out.

    Raises:
        ValueError: if two settings contradict each other.
    """

    device: str = 'cpu'
    batch_size: int = 1
    precision: str = 'fp32'
    channels_last: bool = False
    compile: bool = False
    fuse_conv_bn: bool = False
    input_size: Optional[tuple[int, int]] = None
    synthetic: Optional[int] = None
    include_loading: bool = False

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ValueError(
                'Expected precision to be one of '
                f'{listed(sorted(PRECISIONS))}, but got {self.precision!r}.'
            )
        if self.batch_size < 1:
            raise ValueError(
                f'Expected batch_size >= 1, but got {self.batch_size}.'
            )
        if self.synthetic is not None and self.input_size is None:
            raise ValueError(
                'Synthetic images need an input_size (width height); give '
                '--input-size, for example --input-size 1333 800.'
            )
        if self.synthetic is not None and self.synthetic < 1:
            raise ValueError(
                f'Expected at least one synthetic image, got {self.synthetic}.'
            )

    @property
    def autocast_dtype(self) -> Optional[torch.dtype]:
        """The autocast type, or None for fp32."""
        return PRECISIONS[self.precision]


def amp_precision(device: str) -> str:
    """Return what AMP means on a device: fp16 on a GPU, bf16 on a CPU."""
    return 'fp16' if torch.device(device).type == 'cuda' else 'bf16'


def default_device() -> str:
    """Return the first GPU where there is one, else the CPU."""
    return 'cuda:0' if torch.cuda.is_available() else 'cpu'
