"""Let the demo's detector learn the 29 public test photos by heart.

    python scripts/check_real.py [--data DIR] [--work-dir DIR]

A check that the whole path from real files to scores fits together: a
detector that is trained and tested on the same few photos must find nearly
everything. Minutes on a CPU. The photos are those of CPPE-5's test split;
DIR holds ``images`` and ``annotations/test.json``, by default the folder
``cppe5`` in the one that the environment variable CPPE5_TEST_DATA names.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from mmdet_cppe5.files import read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / 'scripts' / 'overfit_photos.py'
# Points of AP50 below which something in between must be broken.
LEAST_AP50 = 80


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--data', type=Path)
    parser.add_argument(
        '--work-dir', type=Path, default=ROOT / 'work_dirs' / 'check_real'
    )
    return parser.parse_args()


def find_photos(folder):
    if folder is None and 'CPPE5_TEST_DATA' in os.environ:
        folder = Path(os.environ['CPPE5_TEST_DATA']) / 'cppe5'
    if folder is None:
        sys.exit('Set CPPE5_TEST_DATA or give --data: no photos at hand.')
    if not (folder / 'annotations' / 'test.json').is_file():
        sys.exit(f'Expected annotations/test.json in {folder}: not there.')
    return folder.resolve()


def run_tool(name, photos, *arguments):
    """Run one of the tools on the photos and return the seconds it took."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, ROOT / 'tools' / name, CONFIG, *arguments],
        env={**os.environ, 'CPPE5_DATA_ROOT': str(photos)},
        check=True,
    )
    return time.perf_counter() - start


def main():
    args = parse_args()
    photos = find_photos(args.data)
    work = args.work_dir.resolve()
    seconds = {
        'training': run_tool('train.py', photos, '--work-dir', work / 'train')
    }
    checkpoint = (work / 'train' / 'last_checkpoint').read_text().strip()
    seconds['testing'] = run_tool(
        'test.py', photos, checkpoint, '--work-dir', work / 'test',
        '--show-dir', 'pictures', '--cfg-options',
        f'test_evaluator.outfile_prefix={work / "results"}',
    )  # fmt: skip
    overall = read_json(work / 'results.scores.json', 'scores')['overall']
    scores = {key: overall[key] for key in ('AP', 'AP50')}
    write_json(work / 'check_real.json', {**scores, 'seconds': seconds})
    print(
        f'\nLearnt photos: AP {scores["AP"]:.1f}, AP50 {scores["AP50"]:.1f} '
        f'({seconds["training"]:.0f} s of training, '
        f'{seconds["testing"]:.0f} s of testing).\n'
        f'Pictures of the detections are below {work / "test"}.'
    )
    if scores['AP50'] < LEAST_AP50:
        sys.exit(f'Expected an AP50 of at least {LEAST_AP50}.')


if __name__ == '__main__':
    main()
