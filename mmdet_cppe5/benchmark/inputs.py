"""Test images of a fixed size: the data set's own, or noise."""

from __future__ import annotations

from typing import Any

import torch
from mmdet.structures import DetDataSample
from mmengine.config import Config
from torch.utils.data import Dataset


class NoiseImages(Dataset):  # type: ignore[type-arg]
    """Noise images in the form that MMDetection's test pipeline packs.

    Args:
        num_images: length of the data set.
        size: (width, height) in pixels.
    """

    def __init__(self, num_images: int, size: tuple[int, int]) -> None:
        self._num_images = num_images
        width, height = size
        generator = torch.Generator().manual_seed(0)
        self._image = torch.randint(
            0, 256, (3, height, width), dtype=torch.uint8, generator=generator
        )

    def __len__(self) -> int:
        return self._num_images

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not 0 <= index < self._num_images:
            raise IndexError(index)
        shape = tuple(self._image.shape[1:])
        sample = DetDataSample(
            metainfo={
                'img_id': index,
                'img_path': f'noise-{index}',
                'ori_shape': shape,
                'img_shape': shape,
                'scale_factor': (1.0, 1.0),
            }
        )
        return {'inputs': self._image, 'data_samples': sample}


def fix_input_size(
    pipeline: list[dict[str, Any]], size: tuple[int, int]
) -> list[dict[str, Any]]:
    """Return a test pipeline that resizes every image to ``size``.

    Args:
        pipeline: transform configs; what resizes must be called so
            (``Resize``, ``FixScaleResize``, ...).
        size: (width, height) in pixels.

    Raises:
        ValueError: if the pipeline resizes nowhere, or in several places.
    """
    places = [
        index
        for index, step in enumerate(pipeline)
        if str(step['type']).split('.')[-1].endswith('Resize')
    ]
    if len(places) != 1:
        names = [step['type'] for step in pipeline]
        raise ValueError(
            'Expected one resizing transform in the test pipeline to put '
            f'the fixed input size into, but it has {len(places)}: {names}.'
        )
    fixed = list(pipeline)
    fixed[places[0]] = {
        'type': 'mmdet.Resize',
        'scale': tuple(size),
        'keep_ratio': False,
    }
    # Padding to a square would undo the size (YOLOX, RTMDet).
    return [
        step for step in fixed if str(step['type']).split('.')[-1] != 'Pad'
    ]


def innermost_dataset(dataset: Any) -> Any:
    """Return the config of the data set under any wrappers."""
    while 'dataset' in dataset:
        dataset = dataset['dataset']
    return dataset


def pad_to_stride(cfg: Config) -> None:
    """Let the network pad what the test pipeline would have padded.

    A feature pyramid that adds levels needs sides that its coarsest stride
    divides. Most detectors pad to that in ``data_preprocessor``; RTMDet
    does it in the pipeline, by a ``Pad`` to its own square.
    """
    preprocessor = cfg.model.data_preprocessor
    steps = innermost_dataset(cfg.test_dataloader.dataset).get('pipeline', [])
    kinds = {str(step['type']).split('.')[-1] for step in steps}
    if 'Pad' not in kinds or preprocessor.get('pad_size_divisor', 1) > 1:
        return
    strides = cfg.model.bbox_head.anchor_generator.strides
    preprocessor['pad_size_divisor'] = max(strides)


def apply_input_settings(cfg: Config, settings: Any) -> None:
    """Make ``cfg.test_dataloader`` deliver what the settings ask for."""
    if settings.input_size is not None:
        pad_to_stride(cfg)
    if settings.synthetic is not None:
        cfg.test_dataloader.dataset = NoiseImages(
            settings.synthetic, settings.input_size
        )
    elif settings.input_size is not None:
        dataset = innermost_dataset(cfg.test_dataloader.dataset)
        dataset.pipeline = fix_input_size(
            dataset.pipeline, settings.input_size
        )
