"""Random small evaluations against pycocotools: every array, bit for bit.

    python scripts/fuzz_pycocotools.py --cases 10000 --minutes 10

Boxes, masks and keypoints; ties, crowd regions, ignored objects, scores in
float32, absent classes, empty images, other thresholds, caps and size ranges.
Compared are the whole precision, recall and score arrays. A case that differs
is written to --folder as two COCO files; the exit code is then 1.
"""

import argparse
import contextlib
import copy
import io
import json
import sys
import time
from pathlib import Path

import numpy as np
from pycocotools import mask as rle
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.coco import parse_ground_truth, parse_results
from mmdet_cppe5.coco.conversion import to_core
from mmdet_cppe5.core import evaluate

SIZE = 64  # pixels, width and height of every image
KINDS = ('bbox', 'segm', 'keypoints')


def main():
    args = parse_arguments()
    done = dict.fromkeys(KINDS, 0)
    differing = 0
    start = time.monotonic()
    for seed in range(args.seed, args.seed + args.cases):
        if time.monotonic() - start > 60 * args.minutes:
            break
        kind = KINDS[seed % 3]
        case = draw_case(np.random.default_rng(seed), kind)
        done[kind] += 1
        names = differences(*case, kind)
        if names:
            differing += 1
            print(f'seed {seed} ({kind}): {", ".join(names)} differ')
            write_case(args.folder, seed, case)
    counts = ', '.join(f'{count} {kind}' for kind, count in done.items())
    print(f'{counts}: {differing} differ, {time.monotonic() - start:.0f} s')
    sys.exit(1 if differing else 0)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--cases', type=int, default=1000)
    parser.add_argument('--minutes', type=float, default=5)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--folder', type=Path, default=Path('work_dirs/fuzz'))
    return parser.parse_args()


def draw_case(rng, kind):
    """Ground truth, results and settings."""
    images = int(rng.integers(1, 6))
    classes = int(rng.integers(1, 4))
    ids = np.sort(rng.choice(50, images, replace=False)).tolist()
    truth = {
        'images': [{'id': n, 'width': SIZE, 'height': SIZE} for n in ids],
        'categories': [
            {'id': 3 * k + 1, 'name': f'class {k}'} for k in range(classes)
        ],
        'annotations': [],
    }
    objects = int(rng.integers(0, 5 * images))
    crowds = rng.choice([0, 0, 0.3])
    for n in range(objects):
        shape = draw_shape(rng)
        truth['annotations'].append(
            {
                'id': n + 1,
                'image_id': ids[rng.integers(images)],
                'category_id': 3 * int(rng.integers(classes)) + 1,
                'iscrowd': int(rng.random() < crowds),
                **described(rng, shape, kind, truth=True),
            }
        )
    ties = rng.choice([1, 2, 9])
    results = []
    for _ in range(int(rng.integers(0, 8 * images))):
        source = rng.integers(objects) if objects else -1
        entry = {
            'image_id': ids[rng.integers(images)],
            'category_id': 3 * int(rng.integers(classes)) + 1,
        }
        shape = draw_shape(rng)
        if source >= 0 and rng.random() < 0.7:
            near = truth['annotations'][source]
            entry['image_id'] = near['image_id']
            if rng.random() < 0.8:
                entry['category_id'] = near['category_id']
            shape = near['bbox']
            if rng.random() < 0.8:
                shape = moved(rng, shape)
        entry.update(described(rng, shape, kind, truth=False))
        score = round(rng.random(), int(ties))
        entry['score'] = float(
            np.float32(score) if rng.random() < 0.3 else score
        )
        results.append(entry)
    return truth, results, draw_settings(rng, kind)


def draw_shape(rng):
    """A box inside the image; whole numbers often, for ties in overlap."""
    extent = rng.integers(2, 40, 2)
    corner = rng.integers(0, SIZE - extent)
    box = np.concatenate([corner, extent]).astype(float)
    if rng.random() < 0.5:
        box[:2] += rng.random(2)
    return box.tolist()


def moved(rng, box):
    box = np.array(box) + rng.choice([0.5, 1, 3]) * rng.normal(size=4)
    box[2:] = np.clip(box[2:], 1, SIZE / 2)
    box[:2] = np.clip(box[:2], 0, SIZE - 1 - box[2:])
    return box.tolist()


def described(rng, box, kind, truth):
    """Fields of an object at a box, as its kind of evaluation has them."""
    x, y, width, height = box
    fields = {'bbox': box, 'area': width * height} if truth else {}
    if kind == 'bbox':
        return {**fields, 'bbox': box}
    if kind == 'segm':
        canvas = np.zeros((SIZE, SIZE), np.uint8, order='F')
        canvas[int(y) : int(y + height) + 1, int(x) : int(x + width) + 1] = 1
        canvas &= rng.random((SIZE, SIZE)) < rng.choice([0.8, 1, 1])
        mask = rle.encode(np.asfortranarray(canvas))
        mask['counts'] = mask['counts'].decode()
        if truth:
            fields['area'] = float(canvas.sum())
        return {**fields, 'segmentation': mask}
    points = rng.random((17, 2)) * [width, height] + [x, y]
    seen = rng.integers(0, 3, 17) * (rng.random() < 0.9)
    keypoints = np.column_stack([points, seen if truth else np.ones(17)])
    if truth:
        fields['num_keypoints'] = int((seen > 0).sum())
    return {**fields, 'keypoints': keypoints.ravel().tolist()}


def draw_settings(rng, kind):
    ranges = {'all': (0.0, 1e10)}
    if rng.random() < 0.7:
        middle = float(rng.integers(10, 900))
        ranges |= {'low': (0.0, middle), 'high': (middle, 1e10)}
    thresholds = np.linspace(0.5, 0.95, 10)
    if rng.random() < 0.5:
        count = int(rng.integers(1, 5))
        thresholds = np.sort(rng.uniform(0.05, 1, count))
    caps = rng.choice([1, 2, 3, 5, 10, 100], 3, replace=False)
    if kind == 'keypoints':
        caps = [int(rng.choice([2, 20]))]
    return {
        'iou_thrs': list(map(float, thresholds)),
        'area_ranges': ranges,
        'max_dets': sorted(int(cap) for cap in caps),
    }


def differences(truth, results, settings, kind):
    """Names of the arrays that are not equal."""
    theirs = judge(truth, results, settings, kind)
    parsed = parse_ground_truth(copy.deepcopy(truth), 'truth')
    entries = parse_results(copy.deepcopy(results), 'results', parsed)
    problem = to_core(parsed, entries, kind)
    ours = evaluate(
        problem.ground_truths,
        problem.detections,
        similarity=problem.similarity,
        **settings,
    )
    return [
        name
        for name in ('precision', 'recall', 'scores')
        if not np.array_equal(
            np.nan_to_num(getattr(ours, name), nan=-1), theirs[name]
        )
    ]


def judge(truth, results, settings, kind):
    """The arrays of pycocotools."""
    with contextlib.redirect_stdout(io.StringIO()):
        gt = COCO()
        gt.dataset = copy.deepcopy(truth)
        gt.createIndex()
        if results:
            dt = gt.loadRes(copy.deepcopy(results))
        else:  # loadRes([]) raises IndexError
            dt = COCO()
            dt.dataset = {**gt.dataset, 'annotations': []}
            dt.createIndex()
        run = COCOeval(gt, dt, kind)
        run.params.iouThrs = np.array(settings['iou_thrs'])
        run.params.areaRng = list(map(list, settings['area_ranges'].values()))
        run.params.areaRngLbl = list(settings['area_ranges'])
        run.params.maxDets = settings['max_dets']
        run.evaluate()
        run.accumulate()
    return run.eval


def write_case(folder, seed, case):
    folder.mkdir(parents=True, exist_ok=True)
    names = ('truth', 'results', 'settings')
    for name, content in zip(names, case):
        path = folder / f'{seed}.{name}.json'
        path.write_text(json.dumps(content), encoding='utf-8')


if __name__ == '__main__':
    main()
