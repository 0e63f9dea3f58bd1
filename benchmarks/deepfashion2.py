"""How fast DeepFashion2's landmarks and retrieval are evaluated.

    python benchmarks/deepfashion2.py [--images 1000] [--rounds 5]

Landmarks: drawn items with 20 detections of 294 landmarks an image, judged by
pycocotools with `kpt_oks_sigmas` and by this package in its reference mode,
from parsed JSON to the ten numbers, which must agree. Both run in this
process by turns; the ratio is taken inside each round, then the median.

Retrieval: 12,550 queries against 24,012 gallery items, 20 entries each, from
the three files to the accuracies.

Search: the 20 most similar of 24,012 gallery items for 12,550 queries, random
features of 256 numbers, once; with the memory it takes beyond them.
"""

import argparse
import contextlib
import io
import json
import resource
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.coco import parse_ground_truth, parse_results
from mmdet_cppe5.deepfashion2.categories import CATEGORIES
from mmdet_cppe5.deepfashion2.evaluation import assess_task, task_problem
from mmdet_cppe5.deepfashion2.retrieval_scores import (
    evaluate_retrieval_files,
    summarize,
)
from mmdet_cppe5.deepfashion2.retrieval_search import most_similar
from mmdet_cppe5.deepfashion2.sigmas import SIGMAS

NAMES = (
    *('AP', 'AP50', 'AP75', 'APm', 'APl'),
    *('AR20', 'AR50', 'AR75', 'ARm', 'ARl'),
)
DETECTIONS = 20
QUERIES, GALLERY, ENTRIES = 12550, 24012, 20


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--images', type=int, default=1000)
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    time_landmarks(args.images, args.rounds)
    time_search()
    time_retrieval(args.rounds)


def time_landmarks(images, rounds):
    truth, entries = draw_landmarks(images)
    contestants = {'pycocotools': by_pycocotools, 'mmdet-cppe5': by_package}
    seconds = {name: [] for name in contestants}
    numbers = {}
    for turn in range(rounds):
        order = list(contestants)
        for name in order[turn % 2 :] + order[: turn % 2]:
            start = time.perf_counter()
            numbers[name] = contestants[name](truth, entries)
            seconds[name].append(time.perf_counter() - start)
    difference = np.abs(np.subtract(*numbers.values())).max()
    ratios = np.divide(*seconds.values())
    print(
        f'landmarks: {images} images, {len(entries)} detections, {rounds} '
        'rounds'
    )
    for name, values in seconds.items():
        print(f'  {name:<12} {statistics.median(values):7.2f} s')
    print(f'  ratio        {statistics.median(ratios):7.2f}')
    print(f'  largest difference of the ten numbers {difference:.1e}')


def draw_landmarks(images):
    """Draw a ground truth and results of 20 detections an image."""
    rng = np.random.default_rng(0)
    items, entries = [], []
    for image in range(1, images + 1):
        pair = rng.choice(len(CATEGORIES), 2, replace=False)
        for category in pair.tolist():
            slots = CATEGORIES[category].slots
            box = rng.uniform([0, 0, 50, 50], [200, 200, 400, 400]).tolist()
            points = np.zeros((294, 3))
            own = points[slots]
            own[:, :2] = rng.uniform(0, 1, (len(own), 2)) * box[2:] + box[:2]
            own[:, 2] = rng.integers(0, 3, len(own))
            items.append(
                {
                    'id': len(items) + 1,
                    'image_id': image,
                    'category_id': category + 1,
                    'iscrowd': 0,
                    'bbox': box,
                    'area': box[2] * box[3],
                    'keypoints': points.ravel().tolist(),
                    'num_keypoints': int((own[:, 2] > 0).sum()),
                }
            )
            for _ in range(DETECTIONS // 2):
                found = points.copy()
                spread = rng.choice([2, 8, 30])
                found[slots, :2] += rng.normal(0, spread, (len(own), 2))
                entries.append(
                    {
                        'image_id': image,
                        'category_id': category + 1,
                        'score': float(rng.random()),
                        'keypoints': found.ravel().tolist(),
                    }
                )
    truth = {
        'images': [{'id': n} for n in range(1, images + 1)],
        'categories': [{'id': c.id, 'name': c.name} for c in CATEGORIES],
        'annotations': items,
    }
    return truth, entries


def by_pycocotools(truth, entries):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = truth
        coco.createIndex()
        # loadRes adds fields to the entries that it is given.
        found = coco.loadRes([dict(entry) for entry in entries])
        evaluator = COCOeval(coco, found, 'keypoints')
        evaluator.params.kpt_oks_sigmas = SIGMAS
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return evaluator.stats


def by_package(truth, entries):
    objects = parse_ground_truth(truth, 'drawn')
    results = parse_results(entries, 'drawn', objects)
    problem = task_problem(objects, results, 'keypoints', as_reference=True)
    summary, _ = assess_task(objects, problem, 'keypoints')
    values = [summary['overall'][name] for name in NAMES]
    return np.array([-1 if v is None else v / 100 for v in values])


def time_search():
    rng = np.random.default_rng(0)
    queries, gallery = (
        rng.standard_normal((count, 256), dtype=np.float32)
        for count in (QUERIES, GALLERY)
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu = time.perf_counter(), time.process_time()
    most_similar(queries, gallery, ENTRIES)
    seconds, busy = time.perf_counter() - start, time.process_time() - cpu
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f'search: {QUERIES} queries, {GALLERY} gallery items, 256 numbers '
        f'each\n  mmdet-cppe5  {seconds:7.2f} s, of them {busy:.2f} s of CPU '
        f'time; {more / 1024:.0f} MB more than before'
    )


def time_retrieval(rounds):
    with tempfile.TemporaryDirectory() as folder:
        paths = [
            Path(folder) / f'{name}.json'
            for name in ('query', 'gallery', 'results')
        ]
        for path, rows in zip(paths, draw_retrieval()):
            path.write_text(json.dumps(rows))
        seconds, busy = [], []
        for _ in range(rounds):
            start, cpu = time.perf_counter(), time.process_time()
            result = evaluate_retrieval_files(*paths).result
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - cpu)
    print(
        f'retrieval: {QUERIES} queries, {GALLERY} gallery items, {ENTRIES} '
        f'entries each\n  mmdet-cppe5  {statistics.median(seconds):7.2f} s, '
        f'of them {statistics.median(busy):.2f} s of CPU time\n'
        f'  {summarize(result)}'
    )


def draw_retrieval():
    """Draw queries, a gallery, and results that find one in ten entries."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 2000, GALLERY)

    def box():
        x, y, width, height = rng.integers(1, 200, 4).tolist()
        return [x, y, x + width, y + height]

    gallery = [
        {'gallery_image_id': n, 'bbox': box(), 'style': 1, 'pair_id': pair}
        for n, pair in enumerate(pairs.tolist())
    ]
    queries, results = [], []
    for number, pair in enumerate(rng.integers(0, 2000, QUERIES).tolist()):
        query = {
            'query_image_id': number,
            'bbox': box(),
            'cls': number % 13 + 1,
            'style': 1,
            'pair_id': pair,
        }
        right = np.flatnonzero(pairs == pair)
        entries = rng.integers(0, GALLERY, ENTRIES)
        if len(right):
            hit = rng.random(ENTRIES) < 0.1
            entries[hit] = rng.choice(right, hit.sum())
        chosen = [gallery[entry] for entry in entries]
        queries.append(query)
        results.append(
            {
                'query_image_id': number,
                'query_bbox': query['bbox'],
                'query_cls': query['cls'],
                'query_score': 0.9,
                'gallery_image_id': [e['gallery_image_id'] for e in chosen],
                'gallery_bbox': [e['bbox'] for e in chosen],
            }
        )
    return queries, gallery, results


if __name__ == '__main__':
    main()
