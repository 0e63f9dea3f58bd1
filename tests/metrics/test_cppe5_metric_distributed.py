"""Two real processes give the numbers of one."""

import json

import torch.distributed
import torch.multiprocessing
from metric_builders import data_sample, random_samples, run

from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

IMAGES = 7


def work(rank, folder):
    """One process: its share of the images, and one that the other has."""
    torch.distributed.init_process_group(
        'gloo', init_method=f'file://{folder}/store', rank=rank, world_size=2
    )
    samples = random_samples(4, IMAGES)
    share = samples[rank::2]
    if rank == 1:
        # A padded copy, in front and with another result, so that relying
        # on the number of images or on the last result would be noticed.
        truth = [
            (0, [x, y, right - x, bottom - y])
            for x, y, right, bottom in (
                item['bbox'] for item in samples[0]['instances']
            )
        ]
        share.insert(0, data_sample(1, [(0, [0, 0, 9, 9], 0.99)], truth))
    metric = CPPE5Metric(
        tide=True,
        outfile_prefix=f'{folder}/rank{rank}',
        collect_dir=f'{folder}/collect',
    )
    metric.dataset_meta = {'classes': ('A', 'B')}
    metric.process({}, share)
    got = metric.evaluate(IMAGES)
    with open(f'{folder}/{rank}.json', 'w') as stream:
        json.dump(got, stream)
    torch.distributed.destroy_process_group()


def test_two_processes_give_the_numbers_of_one(tmp_path):
    torch.multiprocessing.spawn(work, (str(tmp_path),), nprocs=2)
    both = [json.loads((tmp_path / f'{k}.json').read_text()) for k in (0, 1)]
    alone = run(
        random_samples(4, IMAGES),
        tide=True,
        outfile_prefix=str(tmp_path / 'alone'),
    )
    assert 0 < alone['cppe5/AP'] < 100
    assert both == [alone, alone]
    entries = json.loads((tmp_path / 'rank0.bbox.json').read_text())
    expected = json.loads((tmp_path / 'alone.bbox.json').read_text())
    assert sorted(map(json.dumps, entries)) == sorted(
        map(json.dumps, expected)
    )
    assert not (tmp_path / 'rank1.bbox.json').exists()
