"""How long masks of 5000 images take to load, with and without their checks.

Both sides run in turn in one process, in CPU time; the least of five rounds
counts. One side is the package as it is, the other the package with the
checks of masks left out, and beside them pycocotools' own loading.

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

HEIGHT, WIDTH, PER_IMAGE = 480, 640, 7
ROUNDS = 5


def outline(rng: np.random.Generator) -> list[float]:
    """Return a blob of 40 points somewhere in the image."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    reach = rng.uniform(10, 90) * (1 + 0.05 * rng.normal(size=40))
    centre = rng.uniform((100, 100), (540, 380))
    points = centre + reach[:, None] * np.stack(
        [np.cos(angle), np.sin(angle)], axis=1
    )
    return points.round(2).ravel().tolist()


def write_files(folder: Path, images: int) -> dict[str, tuple[str, str]]:
    """Write a ground truth in each form of mask, and one result file."""
    rng = np.random.default_rng(0)
    truths: dict[str, list[dict[str, Any]]] = {'polygons': [], 'texts': []}
    entries = []
    for number in range(images * PER_IMAGE):
        polygon = outline(rng)
        code = mask_api.frPyObjects([polygon], HEIGHT, WIDTH)[0]
        text = {'size': [HEIGHT, WIDTH], 'counts': code['counts'].decode()}
        shared = {'image_id': number // PER_IMAGE + 1, 'category_id': 1}
        box = mask_api.toBbox(code).tolist()
        area = float(mask_api.area(code))
        for form, value in (('polygons', [polygon]), ('texts', text)):
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
        score = float(rng.random())
        entries.append({**shared, 'score': score, 'segmentation': text})
    results = folder / 'results.json'
    results.write_text(json.dumps(entries))
    files = {}
    for form, items in truths.items():
        path = folder / f'{form}.json'
        data = {
            'images': [
                {'id': key, 'width': WIDTH, 'height': HEIGHT}
                for key in range(1, images + 1)
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
    with mock.patch.object(masks, 'first_wrong', return_value=None):
        checked(truth, results)


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
            print(
                f'{form}, {images} images with {PER_IMAGE} masks: checked '
                f'{ours:.2f} s, unchecked {bare:.2f} s (ratio '
                f'{ours / bare:.2f}), pycocotools {theirs:.2f} s (ratio '
                f'{ours / theirs:.2f})'
            )


if __name__ == '__main__':
    main()
