"""How long `verify` takes on large annotation files, and how much memory.

    python benchmarks/verify_large.py [--images 100000] [--boxes 1000000]

Writes a drawn annotation file of that size and one in which every record is
faulty, checks each in a process of its own without opening images, and
prints wall time, processor time and the largest resident size.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mmdet_cppe5.classes import CLASSES


def drawn(images, boxes, seed=0):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, [1000, 500], (boxes, 2)).round(2)
    size = rng.uniform(1, [250, 200], (boxes, 2)).round(2)
    rows = np.concatenate([corner, size], axis=1).tolist()
    image = rng.integers(1, images + 1, boxes).tolist()
    category = rng.integers(1, len(CLASSES) + 1, boxes).tolist()
    return {
        'images': [
            {'file_name': f'{k}.jpg', 'height': 720, 'width': 1280, 'id': k}
            for k in range(1, images + 1)
        ],
        'type': 'instances',
        'annotations': [
            {
                'area': round(row[2] * row[3], 4),
                'iscrowd': 0,
                'bbox': row,
                'category_id': c,
                'ignore': 0,
                'segmentation': [],
                'image_id': i,
                'id': k,
            }
            for k, (row, i, c) in enumerate(zip(rows, image, category), 1)
        ],
        'categories': [
            {'supercategory': 'none', 'id': k, 'name': name}
            for k, name in enumerate(CLASSES, 1)
        ],
    }


def spoil(dataset):
    for k, item in enumerate(dataset['annotations']):
        del item['area'], item['iscrowd']
        item['id'] = k // 2
        item['image_id'] = str(item['image_id'])
        item['bbox'][k % 3] = 0 if k % 3 == 2 else 1270


def largest_size():
    """Return this program's largest resident size in GiB (Linux).

    Not `ru_maxrss`, which a process inherits from the one that started it.
    """
    for line in Path('/proc/self/status').read_text().splitlines():
        if line.startswith('VmHWM:'):
            return int(line.split()[1]) / 2**20
    return float('nan')


def check(path):
    from mmdet_cppe5.data.verify.verification import verify

    start = time.perf_counter()
    report = verify([path]).report
    wall = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(
        f'{wall:.1f} s, processor {usage.ru_utime + usage.ru_stime:.1f} s, '
        f'{largest_size():.2f} GiB; {report.lines()[-1]}'
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--images', type=int, default=100_000)
    parser.add_argument('--boxes', type=int, default=1_000_000)
    parser.add_argument('--check', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.check:
        check(args.check)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'large.json'
        dataset = drawn(args.images, args.boxes)
        for name in ('sound', 'faulty'):
            if name == 'faulty':
                spoil(dataset)
            path.write_text(json.dumps(dataset))
            size = path.stat().st_size / 2**20
            print(f'{name}, {size:.0f} MiB: ', end='', flush=True)
            subprocess.run(
                [sys.executable, __file__, '--check', str(path)], check=True
            )


if __name__ == '__main__':
    main()
