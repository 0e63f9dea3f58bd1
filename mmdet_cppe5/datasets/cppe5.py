"""CPPE-5 as an MMDetection data set."""

from __future__ import annotations

import logging
import os.path as osp
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np
from mmdet.datasets import BaseDetDataset
from mmdet.registry import DATASETS
from mmdet.structures import DetDataSample
from mmdet.structures.bbox import get_box_wh
from mmengine.fileio import LocalBackend, get_file_backend, get_local_path
from mmengine.logging import print_log

from mmdet_cppe5.annotation_file import read_annotation_file
from mmdet_cppe5.classes import CLASSES, PALETTE
from mmdet_cppe5.coco.ground_truth import CocoGroundTruth, parse_ground_truth
from mmdet_cppe5.coco.masks import check_masks
from mmdet_cppe5.coco.records import Records, listed
from mmdet_cppe5.coco.usual_form import usual_form
from mmdet_cppe5.data.declared_size import SizeFault, describe, remedy
from mmdet_cppe5.image_names import ImageFolder
from mmdet_cppe5.images import image_size

ADVICE = (
    'To prepare CPPE-5, run `python tools/dataset_converters/'
    'prepare_cppe5.py`; for data elsewhere, set `data_root` (the configs '
    'take it from the environment variable CPPE5_DATA_ROOT).'
)
SIZE_CHECKS = ('off', 'report', 'fix', 'drop')


@DATASETS.register_module()
class CPPE5Dataset(BaseDetDataset):
    """Medical personal protective equipment: CPPE-5 (arXiv:2112.09569).

    Public splits: 1000 training images (``annotations/train.json``) and 29
    test images (``annotations/test.json``). The paper's own scores are on
    100 further images, which were never released, by models trained on all
    1029 public ones; they cannot be compared with scores on the public test
    images.

    Labels follow the class *names*: label ``k`` is the ``k``-th of
    ``metainfo['classes']``, whatever the ids and the order of the file's
    categories. All classes of the file are expected to be the official
    five, unless ``metainfo=dict(classes=...)`` asks for others or fewer.

    ``area`` may be missing (width × height then), ``iscrowd`` too (0 then),
    ``segmentation`` may be missing or empty, annotation ids may be anything.
    Ids of images may be numbers or strings, as long as all are of one kind.

    In training no box without area reaches the model: boxes that are
    flagged ``ignore``, less than a pixel wide or high, or outside their
    image are left out with a count in the log, and so is what the pipeline
    shrinks to nothing. (A wrapper such as ``MultiImageMixDataset`` runs its
    pipeline later; end that with ``FilterAnnotations``.) In test mode every
    annotation stays, so that the ground truth is that of the file.

    Each instance carries ``bbox`` (x1, y1, x2, y2 in pixels),
    ``bbox_label``, ``ignore_flag`` and, for evaluation, ``area`` (pixels),
    ``iscrowd`` and ``ann_id`` (None where the file has none).

    Args:
        ann_file: COCO annotation file, relative to ``data_root``. In test
            mode it may lack ``annotations``: there is no ground truth then.
        metainfo: ``dict(classes=...)`` selects and orders classes.
        size_check: what to do about images whose declared size is not that
            of their file (about 48 in the training split): ``'off'`` does
            not look; ``'report'`` logs them; ``'fix'`` takes the file's size
            and brings the boxes into its frame where that can be told (see
            :mod:`mmdet_cppe5.data.declared_size`), else leaves it out;
            ``'drop'`` leaves them all out.
        data_prefix: where the images lie, relative to ``data_root``.
        **kwargs: further arguments of ``BaseDetDataset``.

    Raises:
        FileNotFoundError: if the annotation file or an image is missing.
        TypeError: if ``classes`` is a bare string.
        ValueError: if the file is not a COCO annotation file, or its
            categories are not the expected classes.
    """

    METAINFO = {'classes': CLASSES, 'palette': list(PALETTE)}  # noqa: RUF012

    def __init__(
        self,
        ann_file: str = '',
        metainfo: Optional[Mapping[str, Any]] = None,
        *,
        size_check: str = 'off',
        data_prefix: Optional[dict[str, str]] = None,
        **kwargs: Any,
    ) -> None:
        if size_check not in SIZE_CHECKS:
            raise ValueError(
                f'Expected `size_check` to be one of {SIZE_CHECKS}, but got '
                f'{size_check!r}.'
            )
        self.size_check = size_check
        self._classes_given = metainfo is not None and 'classes' in metainfo
        super().__init__(
            ann_file=ann_file,
            metainfo=metainfo,
            data_prefix=data_prefix or {'img': 'images/'},
            **kwargs,
        )

    @classmethod
    def _load_metainfo(
        cls, metainfo: Optional[Mapping[str, Any]] = None
    ) -> dict[str, Any]:
        """Check ``classes`` and let the colours follow the class names."""
        if metainfo is None or 'classes' not in metainfo:
            return super()._load_metainfo(metainfo)
        if isinstance(metainfo['classes'], str):
            raise TypeError(
                'Expected `classes` to be a sequence of names, but got the '
                f'string {metainfo["classes"]!r}; a tuple of one needs a '
                "comma: ('Mask',)."
            )
        merged = super()._load_metainfo(metainfo)
        merged['classes'] = tuple(metainfo['classes'])
        if 'palette' not in metainfo:
            colours = dict(zip(CLASSES, PALETTE))
            del merged['palette']
            if set(merged['classes']) <= set(colours):
                merged['palette'] = [colours[n] for n in merged['classes']]
        return merged

    def load_data_list(self) -> list[dict[str, Any]]:
        """Read the annotation file and check the images' existence."""
        truth = self._read_ground_truth()
        infos = self._image_infos(truth)
        check_masks(truth)
        self._find_images(infos, truth)
        rows: list[list[int]] = [[] for _ in infos]
        for row, image in enumerate(truth.image.tolist()):
            rows[image].append(row)
        faults = self._size_faults(infos, truth, rows)
        left_out = 0
        kept = []
        for info, own in zip(infos, rows):
            boxes, areas = truth.boxes[own], truth.areas[own]
            fault = faults.get(info['img_id'])
            if fault is not None and self.size_check != 'report':
                if fault.remedy == 'unknown' or self.size_check == 'drop':
                    continue
                info['width'], info['height'] = fault.actual
                boxes = boxes * fault.factors
                areas = areas * fault.factors[:2].prod()
            keep = self._usable(truth, own, boxes, info)
            left_out += len(own) - int(keep.sum())
            info['instances'] = [
                _instance(truth, row, boxes[k], areas[k])
                for k, row in enumerate(own)
                if keep[k]
            ]
            kept.append(info)
        if left_out:
            self._log(
                f'left {left_out} of {len(truth.boxes)} boxes out of '
                'training: flagged `ignore`, or without area in their image'
            )
        return kept

    def filter_data(self) -> list[dict[str, Any]]:
        """Apply ``filter_cfg`` in training, by the boxes that are left.

        Raises:
            ValueError: if no image is left.
        """
        rule = {} if self.test_mode else self.filter_cfg or {}
        kept = [
            info
            for info in self.data_list
            if min(info['width'], info['height']) >= rule.get('min_size', 0)
            and (info['instances'] or not rule.get('filter_empty_gt', False))
        ]
        if not kept:
            raise ValueError(
                f'Expected images to use in {self.ann_file}, but of its '
                f'{len(self.data_list)} none is left by filter_cfg={rule}.'
            )
        return kept

    def prepare_data(self, idx: int) -> Any:
        """Run the pipeline, then drop training boxes that lost their area.

        A box outside the real image (where that is smaller than declared)
        is cut to nothing by the resizing transforms.
        """
        results = super().prepare_data(idx)
        sample = (results or {}).get('data_samples')
        if self.test_mode or not isinstance(sample, DetDataSample):
            return results
        truth = sample.gt_instances
        if len(truth) == 0:
            return results
        width, height = get_box_wh(truth.bboxes)
        keep = (width > 0) & (height > 0)
        if keep.all():
            return results
        no_empty = (self.filter_cfg or {}).get('filter_empty_gt', False)
        if no_empty and not keep.any():
            return None  # another image is drawn instead
        sample.gt_instances = truth[keep]
        return results

    def _read_ground_truth(self) -> CocoGroundTruth:
        try:
            data = read_annotation_file(
                self.ann_file, self.backend_args, not self.test_mode
            ).data
        except (FileNotFoundError, ValueError) as error:
            raise type(error)(f'{error} {ADVICE}') from error
        classes = self.metainfo['classes']
        data, notices = usual_form(data, self.ann_file)
        truth = parse_ground_truth(data, self.ann_file, classes)
        available = [category['name'] for category in data['categories']]
        extra = [name for name in available if name not in classes]
        if extra and not self._classes_given:
            raise ValueError(
                f'Expected the categories of {self.ann_file} to be '
                f'{listed(classes)}, but it has {listed(available)}; select '
                'by name with `metainfo=dict(classes=(...,))` if that is '
                'meant.'
            )
        for notice in (*notices, *truth.notices):
            self._log(notice)
        return truth

    def _image_infos(self, truth: CocoGroundTruth) -> list[dict[str, Any]]:
        images = Records(truth.images, self.ann_file, 'image')
        widths, heights = images.floats('width'), images.floats('height')
        infos = []
        for index, name in enumerate(images.texts('file_name')):
            info = {
                'img_path': osp.join(self.data_prefix['img'], name),
                'img_id': truth.image_ids[index],
                'seg_map_path': None,
                'width': int(widths[index]),
                'height': int(heights[index]),
            }
            if self.return_classes:
                info['text'] = self.metainfo['classes']
                info['caption_prompt'] = self.caption_prompt
                info['custom_entities'] = True
            infos.append(info)
        return infos

    def _find_images(
        self, infos: Sequence[dict[str, Any]], truth: CocoGroundTruth
    ) -> None:
        """Find every image, by the last part of its name if need be."""
        folder = self.data_prefix['img']
        backend = get_file_backend(folder, backend_args=self.backend_args)
        if not isinstance(backend, LocalBackend):
            return  # asking a remote store for every file is too slow
        pictures, missing, moved = ImageFolder(folder), [], 0
        for info, image in zip(infos, truth.images):
            found = pictures.find(image['file_name'])
            if found is None:
                missing.append(info['img_path'])
                continue
            moved += found != Path(info['img_path'])
            info['img_path'] = str(found)
        if missing:
            raise FileNotFoundError(
                f'Expected the {len(infos)} images of {self.ann_file} in '
                f'{folder}, but {len(missing)} are missing, the first is '
                f'{missing[0]}. {ADVICE}'
            )
        if moved:
            self._log(
                f'{moved} of {len(infos)} images were found by the last part '
                'of their name only'
            )

    def _size_faults(
        self,
        infos: Sequence[dict[str, Any]],
        truth: CocoGroundTruth,
        rows: Sequence[Sequence[int]],
    ) -> dict[Any, SizeFault]:
        """Compare declared sizes with the files, if that was asked for."""
        if self.size_check == 'off':
            return {}
        faults = []
        for info, own in zip(infos, rows):
            with get_local_path(
                info['img_path'], backend_args=self.backend_args
            ) as path:
                actual = image_size(path, f'{path}; fetch the file again')
            declared = (info['width'], info['height'])
            if declared == actual:
                continue
            items = [truth.records.items[row] for row in own]
            shaped = any(
                item.get('segmentation') or item.get('keypoints')
                for item in items
            )
            found = remedy(declared, actual, truth.boxes[own], shaped)
            faults.append(SizeFault(info['img_id'], declared, actual, found))
        self._log(
            describe(faults, len(infos), self.size_check),
            logging.WARNING if faults else logging.INFO,
        )
        return {fault.image_id: fault for fault in faults}

    def _usable(
        self,
        truth: CocoGroundTruth,
        rows: Sequence[int],
        boxes: np.ndarray,
        info: Mapping[str, Any],
    ) -> np.ndarray:
        """Tell which boxes go into the data list, bool ``(n,)``."""
        if self.test_mode:
            return np.ones(len(rows), dtype=bool)
        frame = (info['width'], info['height'])
        low = np.clip(boxes[:, :2], 0, frame)
        high = np.clip(boxes[:, :2] + boxes[:, 2:], 0, frame)
        ignored = [truth.records.items[row].get('ignore') for row in rows]
        return (
            (high > low).all(axis=1)
            & (boxes[:, 2:] >= 1).all(axis=1)
            & ~np.array(ignored, dtype=bool)
        )

    def _log(self, message: str, level: int = logging.WARNING) -> None:
        text = f'CPPE5Dataset ({self.ann_file}): {message.rstrip(".")}.'
        print_log(text, logger='current', level=level)


def _instance(
    truth: CocoGroundTruth, row: int, box: np.ndarray, area: float
) -> dict[str, Any]:
    """Return one annotation in the form that MMDetection's loaders read."""
    record = truth.records.items[row]
    x, y, width, height = box.tolist()
    crowd = int(truth.crowd[row])
    instance = {
        'bbox': [x, y, x + width, y + height],
        'bbox_label': int(truth.label[row]),
        'ignore_flag': crowd,
        'area': float(area),
        'iscrowd': crowd,
        'ann_id': record.get('id'),
    }
    if record.get('segmentation'):
        instance['mask'] = record['segmentation']
    return instance
