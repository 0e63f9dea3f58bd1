"""What the benchmark tool costs over a bare loop of the same model.

    python benchmarks/inference_overhead.py [--size 320 320] [--images 40]

One model in one process; iterations of the bare loop and of the tool take
turns, so that a change of the machine's speed meets both alike. The bare loop
is `model.test_step` between two readings of the clock. Printed is the median
over rounds of the ratio of their times.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from mmengine.config import Config
from mmengine.registry import init_default_scope

from mmdet_cppe5.benchmark.inference import InferenceBenchmark
from mmdet_cppe5.benchmark.settings import BenchmarkSettings, default_device
from mmdet_cppe5.benchmark.stages import PostprocessTimer

CONFIG = Path(__file__).parent.parent / 'configs/cppe5/rtmdet_tiny.py'


def bare(benchmark, data):
    benchmark.clock.synchronize()
    started = time.perf_counter()
    with torch.no_grad():
        benchmark.model.test_step(data)
    benchmark.clock.synchronize()
    return 1e3 * (time.perf_counter() - started)


def with_tool(benchmark, data):
    """One iteration as the tool does it; its own numbers are its result."""
    timer = PostprocessTimer(benchmark.clock)
    with benchmark._inference_mode(), timer.attached(benchmark.model):
        started = time.perf_counter()
        benchmark._time_iteration(iter([data]), timer)
        return 1e3 * (time.perf_counter() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--config', default=CONFIG)
    parser.add_argument('--size', type=int, nargs=2, default=(320, 320))
    parser.add_argument('--images', type=int, default=40)
    parser.add_argument('--num-warmup', type=int, default=5)
    parser.add_argument('--device', default=default_device())
    args = parser.parse_args()
    cfg = Config.fromfile(args.config)
    init_default_scope('mmdet')
    settings = BenchmarkSettings(
        device=args.device, input_size=tuple(args.size), synthetic=args.images
    )
    benchmark = InferenceBenchmark(
        cfg, None, settings, num_warmup=args.num_warmup
    )
    ratios = []
    for index, data in enumerate(benchmark.data_loader):
        first, second = bare, with_tool
        if index % 2:
            first, second = second, first
        times = {run: run(benchmark, data) for run in (first, second)}
        if index >= benchmark.num_warmup:
            ratios.append(times[with_tool] / times[bare])
    low, median, high = np.percentile(ratios, [25, 50, 75])
    print(
        f'tool over bare loop: {median:.4f} (quartiles {low:.4f} to '
        f'{high:.4f}, {len(ratios)} rounds)'
    )


if __name__ == '__main__':
    main()
