"""Correcting what can be corrected without guessing, and listing it all."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

import numpy as np

from mmdet_cppe5.coco.loading import load_ground_truth_json
from mmdet_cppe5.coco.records import shorten
from mmdet_cppe5.data.convert.conversion import MOST_LOST, clip_box, tidy
from mmdet_cppe5.data.declared_size import MARGIN, Size, remedy
from mmdet_cppe5.data.verify.changes import Change, Fixed
from mmdet_cppe5.data.verify.box_forms import form_of_records, usable_box
from mmdet_cppe5.data.verify.catalogue import CATALOGUE
from mmdet_cppe5.data.verify.findings import strict
from mmdet_cppe5.data.verify.image_facts import ImageFacts
from mmdet_cppe5.data.verify.records import declared_size, image_label
from mmdet_cppe5.files import PathLike

Box = tuple[float, float, float, float]


def fix(
    path: PathLike, facts: Optional[Mapping[int, ImageFacts]] = None
) -> Fixed:
    """Correct an annotation file where only one correction makes sense.

    Declared sizes are corrected by
    :func:`mmdet_cppe5.data.declared_size.remedy`; where the boxes do not tell
    their frame, the size is left and named. Boxes are clipped to the image.
    Boxes that are malformed, empty, off the image, exactly repeated, or of an unknown
    image or category are dropped. Areas without mask become width × height,
    a missing ``iscrowd`` becomes 0, unusable annotation ids are numbered
    anew. Near-identical images and boxes are left to you.

    Args:
        path: the annotation file.
        facts: the image files' facts by position, as ``verify`` gives them;
            None trusts the declared sizes.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no COCO annotation file.
    """
    data = load_ground_truth_json(path, annotated=False)
    fixed = Fixed(data)
    frozen = _settle_form(data, fixed)
    scales = _Images(data, {} if frozen else facts or {}, fixed).fix()
    _Annotations(data, scales, fixed, frozen).fix()
    return fixed


def _settle_form(data: dict[str, Any], fixed: Fixed) -> bool:
    """Turn corners into x, y, width, height where every box is proven one.

    Returns:
        Whether the boxes are left as they stand, with their areas and the
        image sizes, because they seem to be in another form and not every
        one proves it: correcting them would destroy the evidence.
    """
    form, proven = form_of_records(data['annotations'], data['images'])
    if not form:
        return False
    if form != 'corners' or not proven:
        fixed.unresolved.append(
            f'the boxes look like {form}, not x, y, width, height in pixels, '
            f'{"and nothing proves it" if proven else "but not every one"}: '
            'boxes, areas and image sizes are left as they are; look at them.'
        )
        return True
    for position, item in enumerate(data['annotations']):
        if isinstance(item, dict) and usable_box(item.get('bbox')):
            x1, y1, x2, y2 = item['bbox']
            box = [x1, y1, tidy(x2 - x1), tidy(y2 - y1)]
            label = item.get('id', f'number {position}')
            fixed.changes.append(
                Change(
                    'annotation',
                    label,
                    'bbox',
                    item['bbox'],
                    box,
                    'box-corners',
                )
            )
            item['bbox'] = box
    return False


class _Images:
    """Corrects the image records."""

    def __init__(
        self,
        data: dict[str, Any],
        facts: Mapping[int, ImageFacts],
        fixed: Fixed,
    ) -> None:
        self._data, self._facts, self._fixed = data, facts, fixed
        self._boxes: dict[str, list[Box]] = defaultdict(list)
        self._shaped: set[str] = set()
        for item in data['annotations']:
            if isinstance(item, dict) and usable_box(item.get('bbox')):
                # Ids of either type meet here under one name.
                key = str(item.get('image_id'))
                self._boxes[key].append(tuple(item['bbox']))
                if item.get('segmentation') or item.get('keypoints'):
                    self._shaped.add(key)

    def fix(self) -> dict[str, Size]:
        """Correct the records; return the factors to scale boxes by."""
        kept: list[dict[str, Any]] = []
        seen: dict[Any, dict[str, Any]] = {}
        scales = {}
        for position, image in enumerate(self._data['images']):
            if not isinstance(image, dict):
                self._drop(f'number {position}', image, 'image-malformed')
                continue
            label = image_label(image, position)
            key = str(image.get('id'))
            if seen.get(key) == image:
                self._drop(label, image, 'image-id-repeated')
                continue
            seen.setdefault(key, dict(image))
            fact = self._facts.get(position)
            if fact is not None:
                scale = self._size(image, label, fact.size)
                if scale is not None:
                    scales[key] = scale
            kept.append(image)
        self._data['images'] = kept
        return scales

    def _drop(self, label: Any, record: Any, code: str) -> None:
        self._fixed.changes.append(
            Change('image', label, 'dropped', record, None, code)
        )

    def _size(
        self, image: dict[str, Any], label: Any, actual: tuple[int, int]
    ) -> Optional[Size]:
        """Set the declared size right; return factors for its boxes."""
        declared = declared_size(image)
        if declared == actual:
            return None
        key = str(image.get('id'))
        boxes = np.array(self._boxes[key], dtype=np.float64).reshape(-1, 4)
        found = remedy(declared, actual, boxes, key in self._shaped)
        if found == 'unknown':
            known = (
                'no size' if declared is None else '{} x {}'.format(*declared)
            )
            self._fixed.unresolved.append(
                f'image {label!r} declares {known}, its file has '
                f'{actual[0]} x {actual[1]}, and its boxes do not tell which '
                'of the two they refer to: look at it.'
            )
            return None
        code = 'image-size-missing' if declared is None else 'size-differs'
        for name, value in zip(('width', 'height'), actual):
            if image.get(name) != value:
                self._fixed.changes.append(
                    Change('image', label, name, image.get(name), value, code)
                )
                image[name] = value
        if found == 'scale' and declared is not None:
            return actual[0] / declared[0], actual[1] / declared[1]
        return None


class _Annotations:
    """Corrects the annotations, once the images are right."""

    def __init__(
        self,
        data: dict[str, Any],
        scales: dict[str, Size],
        fixed: Fixed,
        frozen: bool,
    ) -> None:
        self._data, self._scales, self._fixed = data, scales, fixed
        self._frozen = frozen
        self._sizes = {
            image['id']: declared_size(image)
            for image in data['images']
            if isinstance(image.get('id'), (int, str, float))
        }
        self._categories = {
            item['id']: item
            for item in data['categories']
            if isinstance(item, dict)
            and isinstance(item.get('id'), (int, str, float))
        }
        self._by_text = {
            'image': {str(key): key for key in self._sizes},
            'category': {str(key): key for key in self._categories},
        }
        self._seen: set[Any] = set()

    def fix(self) -> None:
        """Correct what can be, drop what cannot be used, number anew."""
        kept = []
        for position, item in enumerate(self._data['annotations']):
            label = f'number {position}'
            if not isinstance(item, dict) or not {'image_id', 'bbox'} & set(
                item
            ):
                code = 'annotation-malformed'
                self._note(label, 'dropped', item, None, code)
                continue
            if isinstance(item.get('id'), (int, str)):
                label = item['id']
            code = self._correct(item, label)
            if code:
                self._note(label, 'dropped', item, None, code)
            else:
                kept.append(item)
        self._number(kept)
        self._data['annotations'] = kept

    def _note(
        self, label: Any, what: str, before: Any, after: Any, code: str
    ) -> None:
        self._fixed.changes.append(
            Change('annotation', label, what, before, after, code)
        )

    def _set(
        self,
        item: dict[str, Any],
        label: Any,
        what: str,
        value: Any,
        code: str,
    ) -> None:
        self._note(label, what, item.get(what), value, code)
        item[what] = value

    def _correct(self, item: dict[str, Any], label: Any) -> str:
        """Correct one annotation; return the code if it must be dropped."""
        for what, known in (
            ('image', self._sizes),
            ('category', self._categories),
        ):
            if not self._refer(item, label, what, known):
                return f'{what}-unknown'
        if not usable_box(item.get('bbox')):
            return 'box-missing'
        before = list(item['bbox'])
        code = '' if self._frozen else self._place(item, label)
        if code:
            return code
        key = (item['image_id'], item['category_id'], *item['bbox'])
        if key in self._seen and not item.get('iscrowd'):
            return 'box-repeated'
        self._seen.add(key)
        cause = ''
        if item['bbox'] != before:
            cause = self._fixed.changes[-1].code
        if not self._frozen:
            self._area(item, label, cause)
        if item.get('iscrowd') is None:
            self._set(item, label, 'iscrowd', 0, 'crowd-missing')
        return ''

    def _refer(
        self,
        item: dict[str, Any],
        label: Any,
        what: str,
        known: Mapping[Any, Any],
    ) -> bool:
        """Make an annotation's reference one that is known, if it can be."""
        value = item.get(f'{what}_id')
        if isinstance(value, (int, str, float)) and value in known:
            return True
        key = self._by_text[what].get(str(value))
        if key is not None:
            self._set(item, label, f'{what}_id', key, f'{what}-id-type')
        return key is not None

    def _place(self, item: dict[str, Any], label: Any) -> str:
        """Scale and clip a box; return the code if nothing is left."""
        factors = self._scales.get(str(item['image_id']))
        if factors is not None:
            box = [tidy(v * f) for v, f in zip(item['bbox'], factors * 2)]
            self._set(item, label, 'bbox', box, 'size-differs')
        x, y, w, h = item['bbox']
        if w <= 0 or h <= 0:
            return 'box-empty'
        size = self._sizes[item['image_id']]
        if size is None:
            return ''
        clipped = [tidy(v) for v in clip_box((x, y, w, h), *size)]
        if min(clipped[2:]) <= 0:
            return 'box-off-image'
        far = max(-x, -y, x + w - size[0], y + h - size[1]) > MARGIN
        if far:
            self._set(item, label, 'bbox', clipped, 'box-beyond')
        return ''

    def _area(self, item: dict[str, Any], label: Any, cause: str) -> None:
        """Give an annotation without mask the area of its box.

        Args:
            item: the annotation.
            label: its id before.
            cause: why its box was changed, or ``''``.
        """
        if item.get('segmentation'):
            return
        true = tidy(item['bbox'][2] * item['bbox'][3])
        area = item.get('area')
        if type(area) in (int, float) and math.isfinite(area):
            if not cause and abs(area - true) <= max(1.0, 1e-3 * true):
                return
            code = cause or ('area-differs' if area >= 0 else 'area-invalid')
        else:
            code = 'area-missing' if area is None else 'area-invalid'
        if area != true:
            self._set(item, label, 'area', true, code)

    def _number(self, items: list[dict[str, Any]]) -> None:
        """Give new ids where they are missing, 0, text or used before."""
        used: set[int] = set()
        good = [i['id'] for i in items if type(i.get('id')) is int]
        following = max([0, *good]) + 1
        for position, item in enumerate(items):
            key = item.get('id')
            if type(key) is int and key != 0 and key not in used:
                used.add(key)
                continue
            label = f'number {position}' if key is None else shorten(key)
            code = {None: 'missing', 0: 'zero'}.get(
                key if isinstance(key, (int, type(None))) else '',
                'repeated' if type(key) is int else 'text',
            )
            self._set(item, label, 'id', following, f'annotation-id-{code}')
            used.add(following)
            following += 1
