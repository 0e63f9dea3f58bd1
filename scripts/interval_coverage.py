"""How often the intervals hold the truth, on drawn detections.

    python scripts/interval_coverage.py --images 29 100 500 --repetitions 200

A large population is drawn and evaluated once: that is the truth. Samples of a
few images are taken from it, and it is counted how often the intervals of a
sample hold the truth, how far they reach, and how far the numbers are off.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from mmdet_cppe5.core import Detections, GroundTruths, bootstrap, evaluate

sys.path.insert(0, str(Path(__file__).parents[1] / 'benchmarks'))
from evaluation import draw


def main():
    args = parse_arguments()
    data = draw(args.population, 5, args.seed)
    whole = evaluate(*sample(data, np.arange(args.population)))
    truth = numbers(bootstrap(whole, 2), 'estimate')
    for images in args.images:
        report(data, truth, images, args)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument('--images', type=int, nargs='+', default=[29, 100])
    parser.add_argument('--repetitions', type=int, default=200)
    parser.add_argument('--population', type=int, default=20000)
    parser.add_argument('--seed', type=int, default=7)
    parser.add_argument(
        '--minutes', type=float, default=5, help='at most, for each size'
    )
    return parser.parse_args()


def report(data, truth, images, args):
    rng = np.random.default_rng(args.seed)
    found = {'estimate': [], 'low': [], 'high': []}
    start = time.monotonic()
    for repetition in range(args.repetitions):
        chosen = rng.choice(args.population, images, replace=False)
        result = bootstrap(evaluate(*sample(data, chosen)), seed=repetition)
        for part, rows in found.items():
            rows.append(numbers(result, part))
        if time.monotonic() - start > 60 * args.minutes:
            break
    low, high, estimate = (
        np.array([[row[name] for name in truth] for row in found[part]])
        for part in ('low', 'high', 'estimate')
    )  # (repetitions, numbers)
    value = np.array(list(truth.values()))
    held = (low <= value) & (value <= high)
    defined = ~np.isnan(low)
    print(f'\n{images} images, {len(low)} repetitions, intervals of 95 %')
    print(
        f'{"":13}{"truth":>7}{"off by":>8}{"held":>7}{"width":>7}{"none":>6}'
    )
    for n, name in enumerate(truth):
        some = defined[:, n]
        print(
            f'{name:13}{100 * value[n]:7.1f}'
            f'{100 * (estimate[:, n].mean() - value[n]):8.2f}'
            f'{held[some, n].mean():7.3f}'
            f'{100 * (high - low)[some, n].mean():7.1f}{(~some).mean():6.2f}',
            flush=True,
        )


def numbers(result, part):
    """Values, lower or upper ends by name."""
    named = dict(result.intervals)
    for label, interval in enumerate(result.class_intervals):
        named[f'AP class {label}'] = interval
    return {name: getattr(each, part) for name, each in named.items()}


def sample(data, images):
    """The chosen images' ground truths and detections."""
    place = np.full(data['world'][0], -1)
    place[images] = np.arange(len(images))
    gt, dt = place[data['gt_image']], place[data['dt_image']]
    world = {'num_images': len(images), 'num_classes': data['world'][1]}
    some, found = gt >= 0, dt >= 0
    return (
        GroundTruths(
            gt[some], data['gt_label'][some], data['gt_box'][some], **world
        ),
        Detections(
            dt[found], data['dt_label'][found], data['dt_box'][found],
            data['dt_score'][found], **world,
        ),
    )  # fmt: skip


if __name__ == '__main__':
    main()
