"""Everything once, on a CPU: draw data, train, test, report.

python tools/demo.py [--work-dir DIR]

Steps that stand are not done again, and an interrupted training resumes.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import PIL
from demo_steps import Step

from mmdet_cppe5 import __version__
from mmdet_cppe5.drawn import write_drawn_dataset
from mmdet_cppe5.files import (
    atomic_path,
    file_digest,
    read_json,
    write_json,
)
from mmdet_cppe5.paths import find_config
from mmdet_cppe5.scores.formats import Table
from mmdet_cppe5.scores.tables import number

CONFIG = 'configs/cppe5/demo_fcos.py'
TOOLS = Path(__file__).resolve().parent
DRAWN = {'num_train': 200, 'num_test': 29, 'seed': 0}
# As many as the machine had on which the documented scores were measured.
THREADS = 2
COLUMNS = ('AP', 'AP50', 'AP75', 'APs', 'APm', 'APl')


class Demo:
    """The steps of the demo and where each leaves its files.

    Attributes:
        root: the work folder.
    """

    def __init__(self, root):
        self.root = root
        self.data = root / 'data'
        self.train_json = self.data / 'annotations' / 'train.json'
        self.test_json = self.data / 'annotations' / 'test.json'
        self.training = root / 'training'
        self.checkpoint = root / 'detector.pth'
        self.results = root / 'results.bbox.json'
        self.scores = root / 'results.scores.json'
        self.pictures = root / 'pictures'
        self.report = root / 'report.html'

    def run(self):
        """Do what does not stand, saying how long each step took."""
        titles = {
            self.draw_step: 'Draw a data set',
            self.train_step: 'Train a detector',
            self.test_step: 'Test it and draw what it found',
            self.report_step: 'Write a report',
        }
        for make_step, title in titles.items():
            print(f'{title} ...', flush=True)
            start = time.perf_counter()
            done = make_step().run(self.root / 'steps')
            seconds = time.perf_counter() - start
            print(f'  {seconds:.0f} s' if done else '  stands already')

    def draw_step(self):
        first = {'train': 1, 'test': 1001}
        numbers = [
            first[split] + index
            for split in first
            for index in range(DRAWN[f'num_{split}'])
        ]
        images = [self.data / 'images' / f'{n}.png' for n in numbers]
        libraries = {'numpy': np.__version__, 'pillow': PIL.__version__}
        return Step(
            'draw',
            {**DRAWN, **libraries, 'mmdet_cppe5': __version__},
            [self.train_json, self.test_json, *images],
            lambda: write_drawn_dataset(self.data, **DRAWN),
        )

    def train_step(self):
        inputs = {
            'annotations': file_digest(self.train_json),
            'config': file_digest(find_config(CONFIG)),
        }

        def work():
            begun = self.training / 'inputs.json'
            if not begun.is_file() or read_json(begun, 'inputs') != inputs:
                # Checkpoints of another training must not be resumed.
                shutil.rmtree(self.training, ignore_errors=True)
                write_json(begun, inputs)
            folder = ['--work-dir', str(self.training)]
            self.call('train', TOOLS / 'train.py', CONFIG, *folder, '--resume')
            last = Path((self.training / 'last_checkpoint').read_text())
            with atomic_path(self.checkpoint) as path:
                shutil.copyfile(self.training / last.name, path)

        return Step('train', inputs, [self.checkpoint], work)

    def test_step(self):
        inputs = {
            'checkpoint': file_digest(self.checkpoint),
            'annotations': file_digest(self.test_json),
            'config': file_digest(find_config(CONFIG)),
        }

        def work():
            prefix = self.root / 'results'
            self.call(
                'test',
                TOOLS / 'test.py',
                CONFIG,
                self.checkpoint,
                *('--work-dir', self.root / 'testing'),
                *('--show-dir', self.pictures),
                '--cfg-options',
                f'test_evaluator.outfile_prefix={prefix}',
            )

        truth = read_json(self.test_json, 'annotations')
        pictures = [
            self.pictures / image['file_name'] for image in truth['images']
        ]
        outputs = [self.results, self.scores, *pictures]
        return Step('test', inputs, outputs, work)

    def report_step(self):
        inputs = {
            'annotations': file_digest(self.test_json),
            'results': file_digest(self.results),
            'mmdet_cppe5': __version__,
        }

        def work():
            self.call(
                'report',
                '-m',
                'mmdet_cppe5',
                'report',
                self.test_json,
                self.results,
                *('--images', self.data / 'images'),
                *('--names', 'Demo detector'),
                *('--title', 'A small FCOS on drawn scenes'),
                *('--out', self.report),
            )

        return Step('report', inputs, [self.report], work)

    def call(self, name, *arguments):
        """Run Python; show the progress of a training, keep all it says."""
        log = self.root / f'{name}.log'
        command = [sys.executable, *map(str, arguments)]
        environment = {
            **os.environ,
            'CPPE5_DATA_ROOT': str(self.data),
            # How many threads share a sum decides how it is rounded.
            'OMP_NUM_THREADS': str(THREADS),
        }
        with (
            open(log, 'w') as stream,
            subprocess.Popen(
                command,
                env=environment,
                text=True,
                errors='replace',
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            for line in process.stdout:
                stream.write(line)
                if progress := short_progress(line):
                    print(progress, flush=True)
        if process.returncode:
            tail = log.read_text().splitlines()[-15:]
            print('\n'.join(tail), file=sys.stderr)
            raise SystemExit(f'{name} failed; all it said is in {log}')


def short_progress(line):
    """Return what a reader wants of one line of MMDetection's log.

    >>> short_progress('.. INFO - Epoch(train) [3][20/20] eta: 0:01:05  '
    ...                'time: 0.3  loss: 1.21  loss_cls: 0.5')
    '  epoch 3, loss 1.21, 0:01:05 to go'
    """
    found = re.search(
        r'Epoch\(train\)\s+\[(\d+)\]\[\s*(\d+)/(\d+)\].*'
        r'eta: ([\d:]+).* loss: ([\d.]+)',
        line,
    )
    if not found:
        return None
    epoch, _, _, left, loss = found.groups()
    return f'  epoch {epoch}, loss {float(loss):.2f}, {left} to go'


def score_table(scores):
    """Return the scores, overall and per class, as an aligned table."""
    groups = {'all classes': scores['overall'], **scores['classes']}
    rows = [
        [name, *(number(values.get(key)) for key in COLUMNS)]
        for name, values in groups.items()
    ]
    return Table(['', *COLUMNS], rows).write()


def parse_args():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--work-dir', type=Path, default='work_dirs/demo')
    return parser.parse_args()


def main():
    demo = Demo(parse_args().work_dir.resolve())
    demo.root.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    demo.run()
    seconds = time.perf_counter() - start
    print(f'\nScores on the {DRAWN["num_test"]} drawn test images, in points:')
    print(score_table(read_json(demo.scores, 'scores')))
    written = {
        'data set': demo.data,
        'detector': demo.checkpoint,
        'detections': demo.results,
        'scores': demo.scores,
        'pictures': demo.pictures,
        'report': demo.report,
        'logs': demo.root,
    }
    print(f'\nWritten ({seconds:.0f} s this time):')
    for name, path in written.items():
        print(f'  {name:<11} {os.path.relpath(path)}')


if __name__ == '__main__':
    main()
