"""ReportHook in a Runner: when it writes, what it reads, who gets figures."""

import logging
from types import SimpleNamespace

import pytest
import torch
from builders import annotation, coco_dataset, write
from mmdet.structures import DetDataSample
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.runner import Runner
from mmengine.structures import InstanceData
from PIL import Image

import mmdet_cppe5.plugin  # noqa: F401

BOX = [10, 10, 50, 50]


class OneBoxEach(torch.utils.data.Dataset):
    """Two images with one object each, from an annotation file."""

    metainfo = {'classes': ('A', 'B')}  # noqa: RUF012

    def __init__(self, folder):
        self.ann_file = str(folder / 'truth.json')
        self.data_prefix = {'img': str(folder / 'images')}

    def __len__(self):
        return 2

    def __getitem__(self, index):
        info = {'img_id': index + 1, 'ori_shape': (480, 640)}
        sample = DetDataSample(metainfo=info)
        return {'inputs': torch.zeros(3, 4, 4), 'data_samples': sample}


class Finder(BaseModel):
    """Finds the object of the first image only."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, inputs, data_samples, mode='tensor'):
        if mode == 'loss':
            return {'loss': self.weight.sum()}
        for sample in data_samples:
            number = int(sample.img_id == 1)
            x, y, w, h = BOX
            sample.pred_instances = InstanceData(
                bboxes=torch.tensor([[x, y, x + w, y + h]] * number).view(
                    -1, 4
                ),
                scores=torch.full((number,), 0.9),
                labels=torch.zeros(number, dtype=torch.long),
            )
        return data_samples


@pytest.fixture
def folder(tmp_path):
    boxes = [annotation(1, 1, BOX), annotation(2, 1, BOX)]
    write(tmp_path / 'truth.json', coco_dataset(boxes, image_ids=(1, 2)))
    (tmp_path / 'images').mkdir()
    Image.new('RGB', (640, 480), 'navy').save(tmp_path / 'images' / '1.png')
    return tmp_path


def make_runner(folder, **hook):
    loader = {
        'batch_size': 1,
        'num_workers': 0,
        'dataset': OneBoxEach(folder),
        'sampler': {'type': 'DefaultSampler', 'shuffle': False},
        'collate_fn': {'type': 'pseudo_collate'},
    }
    evaluator = {'type': 'CPPE5Metric', 'ann_file': str(folder / 'truth.json')}
    return Runner(
        model=Finder(),
        work_dir=str(folder / 'work'),
        train_dataloader=loader,
        val_dataloader=loader,
        test_dataloader=loader,
        train_cfg={'by_epoch': True, 'max_epochs': 2, 'val_interval': 1},
        val_cfg={},
        test_cfg={},
        val_evaluator=evaluator,
        test_evaluator=evaluator,
        optim_wrapper={'optimizer': {'type': 'SGD', 'lr': 0.1}},
        default_hooks={'report': {'type': 'ReportHook', **hook}},
        visualizer={
            'type': 'Visualizer',
            'vis_backends': [{'type': 'TensorboardVisBackend'}],
        },
        default_scope='mmdet',
        experiment_name='finder',
        cfg=Config({}),
    )


def test_report_after_test(folder):
    """AP 51 / 101: recall stops at one of two, precision 1 up to there."""
    make_runner(folder, resamples=20).test()
    (path,) = folder.glob('work/*/report/*.html')
    text = path.read_text()
    assert path.name == 'test.html'
    assert '<dd>50.5<' in text.replace(' ', '')
    assert 'How good is finder_' in text
    assert text.count('data:image/jpeg;base64,') == 1
    assert '1 photo not found, such as 2.png' in text


def test_reports_and_figures_during_training(folder):
    """Validations 1 and 2, of which every second is due."""
    hook = {'val': True, 'interval': 2, 'to_visualizer': True, 'resamples': 0}
    make_runner(folder, figures=True, **hook).train()
    (report,) = folder.glob('work/*/report/*.html')
    assert report.name == 'val_iter_4.html'
    drawn = {p.name for p in folder.glob('work/*/report/val_iter_4/*')}
    assert {'tide.png', 'tide.svg', 'class-ap.png'} <= drawn
    accumulator = pytest.importorskip(
        'tensorboard.backend.event_processing.event_accumulator'
    )
    (file,) = folder.rglob('events.out.tfevents*')
    events = accumulator.EventAccumulator(str(file))
    events.Reload()
    assert 'report-tide' in events.Tags()['images']
    (image,) = events.Images('report-tide')
    assert image.step == 4  # two epochs of two batches
    assert image.width > 600


def test_switched_off_it_writes_nothing(folder):
    make_runner(folder, test=False).test()
    assert not list(folder.rglob('*.html'))


def test_instances_stand_in_for_a_file(folder):
    """Without an annotation file the samples' own annotations count."""
    runner = make_runner(folder, resamples=0)
    dataset = runner.test_dataloader.dataset
    dataset.ann_file = ''
    plain = dataset.__getitem__
    box = [10, 10, 60, 60]

    def with_instances(index):
        item = plain(index)
        instance = {'bbox': box, 'bbox_label': 0, 'ignore_flag': 0}
        item['data_samples'].set_metainfo({'instances': [instance]})
        return item

    type(dataset).__getitem__ = lambda self, index: with_instances(index)
    try:
        runner.test()
    finally:
        type(dataset).__getitem__ = lambda self, index: plain(index)
    (path,) = folder.glob('work/*/report/*.html')
    assert (
        'the data samples: 2 images, 2 objects; classes with objects: 1'
        in (path.read_text())
    )


def test_interval_must_be_positive():
    from mmdet_cppe5.engine.report_hook import ReportHook

    with pytest.raises(ValueError, match='at least 1, but got 0'):
        ReportHook(interval=0)


def run_process(rank, folder):
    """One of two processes: each tests one image, the second one twice."""
    import torch.distributed as dist

    from mmdet_cppe5.engine.report_hook import ReportHook

    dist.init_process_group(
        'gloo', init_method=f'file://{folder}/store', rank=rank, world_size=2
    )
    dataset = OneBoxEach(folder)
    runner = SimpleNamespace(
        test_dataloader=SimpleNamespace(dataset=dataset),
        cfg=Config({}),
        experiment_name='pair',
        log_dir=str(folder / f'rank{rank}'),
        logger=logging.getLogger('pair'),
        iter=0,
    )
    hook = ReportHook(resamples=0)
    hook.before_test_epoch(runner)
    model = Finder()
    for index in (rank, 1):
        sample = dataset[index]['data_samples']
        hook.after_test_iter(runner, 0, None, model(None, [sample]))
    hook.after_test_epoch(runner)
    dist.destroy_process_group()


def test_only_the_main_process_writes(folder, monkeypatch):
    """It writes what both found: one hit of two objects, each image once."""
    monkeypatch.chdir(folder)  # where MMEngine exchanges files
    torch.multiprocessing.spawn(run_process, (folder,), nprocs=2)
    (path,) = folder.glob('rank*/report/*.html')
    assert path.parent.parent.name == 'rank0'
    text = path.read_text()
    assert '<dd>50.5</dd>' in text
    assert 'were not tested' not in text
