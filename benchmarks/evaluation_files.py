"""From two JSON files to AP and TIDE, each tool in a process of its own.

    python benchmarks/evaluation_files.py
    python benchmarks/evaluation_files.py --images 29 1000 --rounds 5

For every size the detections of benchmarks/evaluation.py are written as COCO
files, and each tool reads them, computes AP, AR and TIDE at 0.5:

core              this package, as `mmdet-cppe5 evaluate --no-ci` reads files
core, intervals   the same with intervals
hotcoco           COCO, load_res, evaluate, accumulate, summarize, tide_errors

Tools take turns. Time is CPU time of the work alone (imports are left out) and
memory the peak of the whole process; a ratio is the median over the rounds.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from evaluation import coco_files, draw, process_memory


def main():
    args = parse_arguments()
    if args.measure:
        tool, *paths = args.measure
        print(json.dumps(measure(tool, *paths)))
        return
    print(f'{"images":>7}  {"tool":16}{"CPU s":>8}{"MiB":>7}  / core')
    for images in args.images:
        with tempfile.TemporaryDirectory() as folder:
            paths = coco_files(draw(images, 5, 0), Path(folder))
            report(images, paths, args)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    parser.add_argument(
        '--images', type=int, nargs='+', default=[29, 100, 1000, 5000, 20000]
    )
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--tools', nargs='+', default=list(TOOLS))
    parser.add_argument('--measure', nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def report(images, paths, args):
    found = {tool: [] for tool in args.tools}
    for _ in range(args.rounds):
        for tool in args.tools:
            command = [sys.executable, __file__, '--measure', tool, *paths]
            done = subprocess.run(command, capture_output=True, check=True)
            found[tool].append(json.loads(done.stdout.splitlines()[-1]))
    base = np.array(found[args.tools[0]])
    for tool, rows in found.items():
        seconds, memory = np.median(rows, axis=0)
        ratio = np.median(np.array(rows) / base, axis=0)
        print(
            f'{images:7}  {tool:16}{seconds:8.3f}{memory:7.0f}'
            f'  {ratio[0]:.2f} in time, {ratio[1]:.2f} in memory',
            flush=True,
        )


def measure(tool, truth, results):
    """CPU seconds and peak MiB of one tool in this process."""
    work = TOOLS[tool](truth, results)
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        work()
    return time.process_time() - start, process_memory('VmHWM')


def core(truth, results, intervals=False):
    from mmdet_cppe5.coco import read_ground_truth, read_results
    from mmdet_cppe5.coco.conversion import to_core
    from mmdet_cppe5.core import bootstrap, evaluate, tide

    def work():
        ground_truth = read_ground_truth(truth)
        problem = to_core(ground_truth, read_results(results, ground_truth))
        evaluation = evaluate(
            problem.ground_truths,
            problem.detections,
            similarity=problem.similarity,
        )
        evaluation.summary()
        evaluation.ap_per_class()
        tide(evaluation)
        if intervals:
            bootstrap(evaluation)

    return work


def core_with_intervals(truth, results):
    return core(truth, results, intervals=True)


def hotcoco(truth, results):
    import hotcoco as tool

    def work():
        gt = tool.COCO(truth)
        run = tool.COCOeval(gt, gt.load_res(results), 'bbox')
        run.evaluate()
        run.accumulate()
        run.summarize()
        run.tide_errors()

    return work


TOOLS = {
    'core': core,
    'core, intervals': core_with_intervals,
    'hotcoco': hotcoco,
}

if __name__ == '__main__':
    main()
