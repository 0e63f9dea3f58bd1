"""Time and memory of the evaluation core beside other tools.

    python benchmarks/evaluation.py                      # all sizes
    python benchmarks/evaluation.py --images 1000 --rounds 9
    python benchmarks/evaluation.py --images 1000 --classes 80
    python benchmarks/evaluation.py --images 5000 --tools core hotcoco

Detections are drawn: per object 85 % found (6 % jitter), 0.8 badly placed,
0.5 duplicates and 0.7 of a wrong class, filled up with background to 100 per
image. With 29 images the ground truth is CPPE-5's test set if CPPE5_TEST_DATA
points to it, else it is drawn like the others.

All tools run in this process, one after the other, in an order that rotates
from round to round. A ratio is taken inside each round, then the median over
the rounds. Reading files and building the tools' own objects is not timed.

core             AP, AR, per class, and TIDE at all ten thresholds
core, TIDE at .5 the same with TIDE at 0.5 only, which is what hotcoco does
pycocotools      evaluate, accumulate, summarize
tidecv           evaluate_range from 0.5 to 0.95 (its mAP is its own)
faster-coco-eval evaluate, accumulate, summarize
hotcoco          evaluate, accumulate, summarize, tide_errors (at 0.5)

The peak memory of each is measured in a process of its own; "before" is the
memory of that process with the inputs loaded.
"""

import argparse
import contextlib
import gc
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CPPE5_SHARES = np.array([45, 17, 61, 32, 52]) / 207
IMAGE_SIZE = (640, 480)
PER_IMAGE = 100
COLUMNS = (
    'gt_image', 'gt_label', 'gt_box', 'dt_image', 'dt_label', 'dt_box',
    'dt_score', 'world',
)  # fmt: skip


def main():
    args = parse_arguments()
    if args.measure_memory:
        print(json.dumps(peak_memory(*args.measure_memory)))
        return
    for images in args.images:
        for classes in args.classes:
            with tempfile.TemporaryDirectory() as folder:
                report(images, classes, args, Path(folder))


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split('\n', 1)[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--images', type=int, nargs='+', default=[29, 100, 1000, 5000]
    )
    parser.add_argument('--classes', type=int, nargs='+', default=[5])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument(
        '--tools', nargs='+', default=list(TOOLS), choices=list(TOOLS)
    )
    parser.add_argument('--no-memory', action='store_true')
    parser.add_argument(
        '--measure-memory', nargs=2, metavar=('TOOL', 'FILE'),
        help=argparse.SUPPRESS,
    )  # fmt: skip
    return parser.parse_args()


def report(images, classes, args, folder):
    data = draw(images, classes, args.seed)
    np.savez(folder / 'data.npz', **data)
    ready = {}
    for name in args.tools:
        try:
            ready[name] = TOOLS[name](data, folder)
        except ImportError as error:
            print(
                f"{name} left out: {error}. pip install -e '.[parity]' "
                'brings all tools.'
            )
    print(
        f'\n{images} images, {len(data["gt_image"])} objects, '
        f'{len(data["dt_image"])} detections, {classes} classes, '
        f'{args.rounds} rounds'
    )
    seconds = run_rounds(ready, args.rounds)
    base = {'core', 'core, TIDE at .5'} & set(ready)
    header = ''.join(f'{f"/ {name}":>22}' for name in sorted(base))
    print(f'{"":18}{"seconds":>10}{header}{"before":>12}{"peak":>8} MiB')
    for name in ready:
        ratios = ''.join(
            f'{np.median(seconds[name] / seconds[ours]):22.2f}'
            for ours in sorted(base)
        )
        memory = ''
        if not args.no_memory:
            before, peak = memory_in_own_process(name, folder / 'data.npz')
            memory = f'{before:12.0f}{peak:8.0f}'
        print(f'{name:18}{np.median(seconds[name]):10.4f}{ratios}{memory}')
    both = {'pycocotools', 'tidecv', 'core'}
    if both <= set(ready):
        total = seconds['pycocotools'] + seconds['tidecv']
        ratio = np.median(total / seconds['core'])
        print(f'(pycocotools + tidecv) / core: {ratio:.1f}')


def run_rounds(ready, rounds):
    """(rounds,) seconds of each tool; one round before them is not kept."""
    names = list(ready)
    seconds = {name: [] for name in names}
    for turn in range(rounds + 1):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            gc.collect()
            with contextlib.redirect_stdout(io.StringIO()):
                start = time.perf_counter()
                ready[name]()
                passed = time.perf_counter() - start
            if turn:
                seconds[name].append(passed)
    return {name: np.array(values) for name, values in seconds.items()}


def memory_in_own_process(name, path):
    command = [sys.executable, __file__, '--measure-memory', name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def peak_memory(name, path):
    """MiB with the inputs loaded, and at the peak."""
    with np.load(path) as file:
        data = {column: file[column] for column in COLUMNS}
    with tempfile.TemporaryDirectory() as folder:
        work = TOOLS[name](data, Path(folder))
    del data
    gc.collect()
    before = process_memory('VmRSS')
    with contextlib.redirect_stdout(io.StringIO()):
        work()
    return before, process_memory('VmHWM')


def process_memory(field):
    """MiB of this process, as Linux counts it."""
    for line in Path('/proc/self/status').read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise KeyError(f'Expected {field} in /proc/self/status.')


def draw(images, classes, seed):
    """Draw a data set; columns as in COLUMNS."""
    rng = np.random.default_rng(seed)
    gt_image, gt_label, gt_box = ground_truth(rng, images, classes)
    shares = class_shares(classes)
    found = [
        (
            rng.random(len(gt_image)) < 0.85,
            0.06,
            rng.beta(4, 2, len(gt_image)),
        ),
        (rng.random(len(gt_image)) < 0.8, 0.3, rng.beta(2, 3, len(gt_image))),
        (rng.random(len(gt_image)) < 0.5, 0.08, rng.beta(2, 3, len(gt_image))),
        (rng.random(len(gt_image)) < 0.7, 0.06, rng.beta(2, 3, len(gt_image))),
    ]
    parts = []
    for kind, (chosen, jitter, score) in enumerate(found):
        label = gt_label[chosen]
        if kind == 3:
            label = rng.integers(0, classes, len(label))
        parts.append(
            (gt_image[chosen], label, jittered(rng, gt_box[chosen], jitter),
             score[chosen])
        )  # fmt: skip
    have = np.bincount(
        np.concatenate([part[0] for part in parts]), minlength=images
    )
    image = np.repeat(np.arange(images), np.maximum(PER_IMAGE - have, 0))
    parts.append(
        (
            image,
            rng.choice(classes, len(image), p=shares),
            boxes(rng, len(image)),
            rng.beta(1, 6, len(image)),
        )
    )
    dt_image, dt_label, dt_box, dt_score = map(np.concatenate, zip(*parts))
    order = np.argsort(dt_image, kind='stable')
    return {
        'gt_image': gt_image, 'gt_label': gt_label, 'gt_box': gt_box,
        'dt_image': dt_image[order], 'dt_label': dt_label[order],
        'dt_box': dt_box[order], 'dt_score': dt_score[order],
        'world': np.array([images, classes]),
    }  # fmt: skip


def ground_truth(rng, images, classes):
    folder = os.environ.get('CPPE5_TEST_DATA')
    path = Path(folder or '.') / 'cppe5' / 'annotations' / 'test.json'
    if images == 29 and classes == 5 and folder and path.is_file():
        content = json.loads(path.read_text())
        ids = sorted(image['id'] for image in content['images'])
        rows = content['annotations']
        return (
            np.searchsorted(ids, [row['image_id'] for row in rows]),
            np.array([row['category_id'] for row in rows]) - 1,
            np.array([row['bbox'] for row in rows], float),
        )
    count = rng.integers(1, 9, images) + 3 * (rng.random(images) < 0.1)
    image = np.repeat(np.arange(images), count)
    label = rng.choice(classes, len(image), p=class_shares(classes))
    return image, label, boxes(rng, len(image))


def class_shares(classes):
    """CPPE-5's shares for five classes, else long-tailed ones."""
    if classes == len(CPPE5_SHARES):
        return CPPE5_SHARES
    shares = 1 / np.arange(1, classes + 1)
    return shares / shares.sum()


def boxes(rng, count):
    size = np.exp(rng.normal(4.3, 0.9, count))[:, None]
    stretch = np.exp(rng.normal(0, 0.3, count))[:, None]
    extent = np.hstack([size * stretch, size / stretch])
    extent = np.minimum(extent, np.array(IMAGE_SIZE) * 0.95)
    return np.hstack([rng.random((count, 2)) * (IMAGE_SIZE - extent), extent])


def jittered(rng, box, amount):
    moved = box + rng.normal(0, amount, box.shape) * np.tile(box[:, 2:], 2)
    moved[:, 2:] = np.abs(moved[:, 2:]) + 1
    return moved


def core(data, folder, whole=True):
    from mmdet_cppe5.core import (
        Detections,
        GroundTruths,
        evaluate,
        tide,
        tide_range,
    )

    images, classes = data['world'].tolist()
    world = {'num_images': images, 'num_classes': classes}
    gt = GroundTruths(
        data['gt_image'], data['gt_label'], data['gt_box'], **world
    )
    dt = Detections(
        data['dt_image'], data['dt_label'], data['dt_box'], data['dt_score'],
        **world,
    )  # fmt: skip

    def work():
        evaluation = evaluate(gt, dt)
        evaluation.summary()
        evaluation.ap_per_class()
        evaluation.ar_per_class()
        return tide_range(evaluation) if whole else tide(evaluation)

    return work


def core_one_threshold(data, folder):
    return core(data, folder, whole=False)


def coco_files(data, folder):
    """The data as COCO files; paths of ground truth and results."""
    images, classes = data['world'].tolist()
    content = {
        'images': [
            {'id': n + 1, 'width': IMAGE_SIZE[0], 'height': IMAGE_SIZE[1]}
            for n in range(images)
        ],
        'categories': [
            {'id': k + 1, 'name': f'class {k}'} for k in range(classes)
        ],
        'annotations': [
            {
                'id': row + 1, 'image_id': image + 1,
                'category_id': label + 1, 'bbox': box,
                'area': box[2] * box[3], 'iscrowd': 0,
            }
            for row, (image, label, box) in enumerate(
                zip(*(data[f'gt_{c}'].tolist() for c in COLUMNS_SHORT))
            )
        ],
    }  # fmt: skip
    results = [
        {
            'image_id': image + 1, 'category_id': label + 1, 'bbox': box,
            'score': score,
        }
        for image, label, box, score in zip(
            *(data[f'dt_{c}'].tolist() for c in (*COLUMNS_SHORT, 'score'))
        )
    ]  # fmt: skip
    paths = folder / 'gt.json', folder / 'dt.json'
    for path, value in zip(paths, (content, results)):
        if not path.exists():
            path.write_text(json.dumps(value))
    return tuple(map(str, paths))


COLUMNS_SHORT = ('image', 'label', 'box')


def pycocotools(data, folder):
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    return coco_like(data, folder, COCO, COCOeval, 'loadRes')


def faster_coco_eval(data, folder):
    from faster_coco_eval import COCO, COCOeval_faster

    return coco_like(data, folder, COCO, COCOeval_faster, 'loadRes')


def coco_like(data, folder, coco, evaluator, load):
    gt_path, dt_path = coco_files(data, folder)
    with contextlib.redirect_stdout(io.StringIO()):
        gt = coco(gt_path)
        dt = getattr(gt, load)(dt_path)

    def work():
        run = evaluator(gt, dt, 'bbox')
        run.evaluate()
        run.accumulate()
        run.summarize()
        return run

    return work


def hotcoco(data, folder):
    import hotcoco as tool

    evaluate = coco_like(data, folder, tool.COCO, tool.COCOeval, 'load_res')
    return lambda: evaluate().tide_errors()


def tidecv(data, folder):
    import tidecv as tool

    truth, found = tool.Data('truth'), tool.Data('found')
    gt = zip(*(data[f'gt_{c}'].tolist() for c in COLUMNS_SHORT))
    for image, label, box in gt:
        truth.add_ground_truth(image, label, box)
    dt = zip(*(data[f'dt_{c}'].tolist() for c in (*COLUMNS_SHORT, 'score')))
    for image, label, box, score in dt:
        found.add_detection(image, label, score, box)

    def work():
        run = tool.TIDE()
        run.evaluate_range(truth, found, mode=tool.TIDE.BOX)
        run.summarize()

    return work


TOOLS = {
    'core': core,
    'core, TIDE at .5': core_one_threshold,
    'pycocotools': pycocotools,
    'tidecv': tidecv,
    'faster-coco-eval': faster_coco_eval,
    'hotcoco': hotcoco,
}

if __name__ == '__main__':
    main()
