"""How long masks of 5000 images take to load, with and without their checks.

All run in turn in one process, in CPU time; the median of the rounds' ratios
counts. One side is the package as it is, the other the package with the
checks of masks left out and pycocotools counting the pixels, and beside them
pycocotools' own loading.

    python benchmarks/mask_loading.py --images 5000
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from pycocotools import mask as mask_api
from pycocotools.coco import COCO

from mmdet_cppe5.coco import masks, read_ground_truth, read_results
from mmdet_cppe5.coco.conversion import to_core
from mmdet_cppe5.coco.mask_column import MaskColumn

WIDTH, PER_IMAGE = 640, 7
HEIGHTS = 480, 427  # in turn, as in COCO
ROUNDS = 7


def outline(rng: np.random.Generator) -> list[float]:
    """Return a blob of 40 points somewhere in the image."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    reach = rng.uniform(10, 90) * (1 + 0.05 * rng.normal(size=40))
    centre = rng.uniform((100, 100), (540, 330))
    points = centre + reach[:, None] * np.stack(
        [np.cos(angle), np.sin(angle)], axis=1
    )
    return points.round(2).ravel().tolist()


def runs(code: dict[str, Any]) -> list[int]:
    """Return a mask's run lengths, beginning with one of zeros."""
    flat = mask_api.decode(code).ravel(order='F')
    edges = (np.flatnonzero(flat[1:] != flat[:-1]) + 1).tolist()
    if flat[0]:
        edges = [0, *edges]
    return np.diff([0, *edges, flat.size]).tolist()


def write_files(folder: Path, images: int) -> dict[str, tuple[str, str]]:
    """Write a ground truth in each form of mask, and one result file."""
    rng = np.random.default_rng(0)
    forms = ('polygons', 'texts', 'counts')
    truths: dict[str, list[dict[str, Any]]] = {form: [] for form in forms}
    entries = []
    for number in range(images * PER_IMAGE):
        polygon = outline(rng)
        image = number // PER_IMAGE
        height = HEIGHTS[image % 2]
        code = mask_api.frPyObjects([polygon], height, WIDTH)[0]
        text = {'size': [height, WIDTH], 'counts': code['counts'].decode()}
        shared = {'image_id': image + 1, 'category_id': 1}
        box = mask_api.toBbox(code).tolist()
        area = float(mask_api.area(code))
        score = float(rng.random())
        counts = {'size': [height, WIDTH], 'counts': runs(code)}
        # pycocotools reads no other form in results.
        entries.append({**shared, 'score': score, 'segmentation': text})
        for form, value in zip(forms, ([polygon], text, counts)):
            truths[form].append(
                {
                    **shared,
                    'id': number + 1,
                    'bbox': box,
                    'area': area,
                    'iscrowd': 0,
                    'segmentation': value,
                }
            )
    results = folder / 'results.json'
    results.write_text(json.dumps(entries))
    files = {}
    for form, items in truths.items():
        path = folder / f'{form}.json'
        data = {
            'images': [
                {
                    'id': key + 1,
                    'width': WIDTH,
                    'height': HEIGHTS[key % 2],
                }
                for key in range(images)
            ],
            'annotations': items,
            'categories': [{'id': 1, 'name': 'blob'}],
        }
        path.write_text(json.dumps(data))
        files[form] = str(path), str(results)
    return files


def checked(truth: str, results: str) -> None:
    """Load as the package does."""
    ground_truth = read_ground_truth(truth)
    to_core(ground_truth, read_results(results, ground_truth), 'segm')


def unchecked(truth: str, results: str) -> None:
    """Load without a look into the masks."""
    with mock.patch.object(masks, 'look_at', as_they_stand):
        checked(truth, results)


def as_they_stand(
    values: list[Any], sizes: list[Any], bounds: bool
) -> MaskColumn:
    """Hand masks on, leaving it to pycocotools to measure them."""
    return MaskColumn.unmeasured(values)


def pycocotools(truth: str, results: str) -> None:
    """Load as pycocotools' evaluation does."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(truth)
        for loaded in (coco, coco.loadRes(results)):
            for annotation in loaded.anns.values():
                coco.annToRLE(annotation)


def seconds(load: Callable[[str, str], None], paths: tuple[str, str]) -> float:
    """Return the CPU time of loading once."""
    start = time.process_time()
    load(*paths)
    return time.process_time() - start


def main() -> None:
    """Time all three in turn and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--images', type=int, default=5000)
    images = parser.parse_args().images
    with tempfile.TemporaryDirectory() as folder:
        for form, paths in write_files(Path(folder), images).items():
            ways = (checked, unchecked, pycocotools)
            rounds = [[seconds(w, paths) for w in ways] for _ in range(ROUNDS)]
            ours, bare, theirs = np.min(rounds, axis=0)
            to_bare, to_theirs = np.median(
                [[r[0] / r[1], r[0] / r[2]] for r in rounds], axis=0
            )
            print(
                f'{form}, {images} images with {PER_IMAGE} masks: checked '
                f'{ours:.2f} s, unchecked {bare:.2f} s (ratio '
                f'{to_bare:.2f}), pycocotools {theirs:.2f} s (ratio '
                f'{to_theirs:.2f})'
            )


if __name__ == '__main__':
    main()
