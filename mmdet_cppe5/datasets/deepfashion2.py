"""DeepFashion2 as an MMDetection data set."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from mmdet.datasets import CocoDataset
from mmdet.datasets.api_wrappers import COCO
from mmdet.registry import DATASETS
from mmengine.logging import print_log

from mmdet_cppe5.coco.ground_truth import parse_ground_truth
from mmdet_cppe5.coco.loading import check_ground_truth_form
from mmdet_cppe5.coco.masks import check_masks
from mmdet_cppe5.coco.records import Records
from mmdet_cppe5.coco.usual_form import usual_form
from mmdet_cppe5.deepfashion2.categories import (
    CATEGORIES,
    CLASSES,
    NUM_LANDMARKS,
    PALETTE,
    category_named,
)
from mmdet_cppe5.deepfashion2.class_names import with_class_names


class _DeepFashion2COCO(COCO):
    """MMDetection's COCO reader with categories told apart by id."""

    def __init__(self, annotation_file: Optional[str] = None) -> None:
        self.source = str(annotation_file)
        super().__init__(annotation_file)

    def createIndex(self) -> None:
        """Check, complete and rename the records before indexing them."""
        self.dataset = _whole(self.dataset, self.source)
        super().createIndex()

    def get_cat_ids(
        self,
        cat_names: Sequence[str] = (),
        sup_names: Sequence[str] = (),
        cat_ids: Sequence[int] = (),
    ) -> list[int]:
        """Return ids in the order of the names, so that labels follow it."""
        if cat_names:
            return [category_named(name).id for name in cat_names]
        return super().get_cat_ids(cat_names, sup_names, cat_ids)


def _whole(data: dict[str, Any], source: str) -> dict[str, Any]:
    """Return a file's content with all that MMDetection takes for granted.

    It is read by the rules of the evaluation, so that a fault is a sentence
    here too, and what is missing there is filled in here.
    """
    check_ground_truth_form(data, source)
    data, _ = usual_form(with_class_names(data, source), source)
    images = Records(data['images'], source, 'image')
    images.texts('file_name')
    images.floats('width')
    images.floats('height')
    truth = parse_ground_truth(data, source)
    check_masks(truth)
    for notice in truth.notices:
        text = f'DeepFashion2Dataset: {notice}'
        print_log(text, 'current', logging.WARNING)
    columns = zip(
        truth.records.items,
        _own_or_new(truth.annotation_ids),
        truth.boxes.tolist(),
        truth.areas.tolist(),
        truth.crowd.astype(int).tolist(),
    )
    data['annotations'] = [
        {**item, 'id': key, 'bbox': box, 'area': area, 'iscrowd': crowd}
        for item, key, box, area, crowd in columns
    ]
    return data


def _own_or_new(ids: list[Any]) -> Sequence[Any]:
    """Return annotation ids, or numbers where they do not tell apart."""
    usable = set(map(type, ids)) <= {int} or set(map(type, ids)) <= {str}
    if usable and len(set(ids)) == len(ids):
        return ids
    return range(1, len(ids) + 1)


@DATASETS.register_module()
class DeepFashion2Dataset(CocoDataset):
    """DeepFashion2 (arXiv:1901.07973) in COCO form: boxes and masks.

    The annotation file is one that ``mmdet-cppe5 deepfashion2-convert`` or
    the data set's own converter wrote. Its 13 categories are told apart by
    id and may have either of their two names ("short sleeve top" or
    "short_sleeved_shirt"); so may ``metainfo=dict(classes=...)``, which
    selects and orders classes. Label ``k`` is the ``k``-th class, named as
    in :data:`mmdet_cppe5.deepfashion2.categories.CLASSES`.

    An item without polygons takes no part in training masks. Style and pair
    are not loaded.

    Args:
        ann_file: the COCO-style annotation file.
        metainfo: ``dict(classes=...)`` selects and orders classes.
        with_landmarks: load the landmarks too, for ``PackLandmarks``.
        **kwargs: further arguments of ``CocoDataset``.

    Raises:
        KeyError: if a class is none of DeepFashion2's.
        TypeError: if ``classes`` is a bare string.
        ValueError: if the file's categories are not DeepFashion2's, or an
            item has no landmarks where they are to be loaded.
    """

    METAINFO = {'classes': CLASSES, 'palette': list(PALETTE)}  # noqa: RUF012
    COCOAPI = _DeepFashion2COCO

    def __init__(
        self, *args: Any, with_landmarks: bool = False, **kwargs: Any
    ) -> None:
        self.with_landmarks = with_landmarks
        super().__init__(*args, **kwargs)

    @classmethod
    def _load_metainfo(
        cls, metainfo: Optional[Mapping[str, Any]] = None
    ) -> dict[str, Any]:
        """Give chosen classes this package's names and colours."""
        given = dict(metainfo or {})
        if isinstance(given.get('classes'), str):
            raise TypeError(
                'Expected `classes` to be a sequence of names, but got the '
                f'string {given["classes"]!r}; a tuple of one needs a comma: '
                f'({given["classes"]!r},).'
            )
        if 'classes' in given:
            chosen = [category_named(name) for name in given['classes']]
            given['classes'] = tuple(category.name for category in chosen)
            colours = [PALETTE[category.id - 1] for category in chosen]
            given.setdefault('palette', colours)
        return super()._load_metainfo(given)

    def parse_data_info(self, raw_data_info: dict[str, Any]) -> dict[str, Any]:
        """Parse one image; an item without polygons gets an empty mask.

        MMDetection's loader ignores items with an empty mask, while it
        fails on items with none.
        """
        parse = super().parse_data_info
        info = parse(raw_data_info)
        if self.with_landmarks:
            # MMDetection leaves some annotations out without saying which,
            # so they are parsed one by one.
            info['instances'] = [
                {**instance, 'landmarks': _own_landmarks(annotation)}
                for annotation in raw_data_info['raw_ann_info']
                for instance in parse(
                    {**raw_data_info, 'raw_ann_info': [annotation]}
                )['instances']
            ]
        for instance in info['instances']:
            instance.setdefault('mask', [])
        return info


def _own_landmarks(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the landmarks of an item's category, which are a tenth of all.

    Returns:
        ``first``, the slot of the first, and ``values``, x, y, v of each.
    """
    own = CATEGORIES[annotation['category_id'] - 1].slots
    given = annotation.get('keypoints', ())
    if len(given) != 3 * NUM_LANDMARKS:
        raise ValueError(
            f"Expected {3 * NUM_LANDMARKS} numbers in 'keypoints' of "
            f'annotation id {annotation["id"]!r} (image id '
            f'{annotation["image_id"]!r}), but got {len(given)}.'
        )
    return {
        'first': own.start,
        'values': given[3 * own.start : 3 * own.stop],
    }
