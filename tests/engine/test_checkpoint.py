"""The loaders work in MMEngine's place: runs, resuming, downloads."""

import functools
import hashlib
import http.server
import threading

import numpy as np
import pytest
import torch
from mmengine.model import BaseModel
from mmengine.optim import OptimWrapper
from mmengine.runner import Runner, load_checkpoint
from mmengine.runner.checkpoint import CheckpointLoader

from mmdet_cppe5.engine import checkpoint as own


class Toy(BaseModel):
    """Fits a line."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, inputs, targets=None, mode='tensor'):
        inputs = torch.stack(list(inputs))
        loss = (self.layer(inputs) - 1).square().mean()
        return {'loss': loss} if mode == 'loss' else inputs


def run(folder, epochs, hooks=None, **options):
    model = Toy()
    data = [{'inputs': torch.tensor([float(i), 1.0])} for i in range(4)]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    runner = Runner(
        model=model,
        work_dir=str(folder),
        experiment_name=f'{folder.name}_{epochs}_{len(options)}',
        train_dataloader={
            'dataset': data,
            'sampler': {'type': 'DefaultSampler', 'shuffle': False},
            'batch_size': 2,
            'num_workers': 0,
        },
        train_cfg={'by_epoch': True, 'max_epochs': epochs},
        optim_wrapper=OptimWrapper(optimizer),
        param_scheduler={'type': 'MultiStepLR', 'milestones': [1, 3]},
        custom_hooks=[{'type': 'EMAHook'}],
        default_hooks={
            'logger': {'type': 'LoggerHook', 'interval': 1},
            **(hooks or {}),
        },
        default_scope='mmengine',
        log_level='WARNING',
        **options,
    )
    runner.train()
    return runner


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_train_resume_and_load(tmp_path):
    torch.manual_seed(0)
    straight = run(tmp_path / 'straight', 4)
    resumed = run(
        tmp_path / 'resumed',
        4,
        load_from=str(tmp_path / 'straight' / 'epoch_2.pth'),
        resume=True,
    )
    assert resumed.iter == straight.iter == 8
    assert torch.equal(weights(resumed.model), weights(straight.model))
    history, _ = resumed.message_hub.get_scalar('train/loss').data
    expected, _ = straight.message_hub.get_scalar('train/loss').data
    np.testing.assert_array_equal(history, expected)

    last = tmp_path / 'straight' / 'epoch_4.pth'
    model = Toy()
    load_checkpoint(model, str(last))
    saved = own.load_checkpoint_file(last)
    assert torch.equal(model.layer.weight, saved['state_dict']['layer.weight'])
    assert {'meta', 'optimizer', 'param_schedulers', 'message_hub'} <= set(
        saved
    )
    started = run(tmp_path / 'fine', 1, load_from=str(last))
    assert started.iter == 2


def test_own_loaders_are_registered():
    for address, loader in {
        'a/b.pth': own.load_from_local,
        'http://host/b.pth': own.load_from_http,
        'https://host/b.pth': own.load_from_http,
        'torchvision://resnet50': own.load_from_torchvision,
        'modelzoo://resnet50': own.load_from_torchvision,
        'open-mmlab://vgg16_caffe': own.load_from_openmmlab,
        'openmmlab://vgg16_caffe': own.load_from_openmmlab,
        'mmcls://vgg11': own.load_from_mmcls,
    }.items():
        assert CheckpointLoader._get_checkpoint_loader(address) is loader


def test_file_in_the_form_of_mmdetection_2(tmp_path):
    """What MMCV 1.x's runner saved, in the form of PyTorch before 1.6."""
    state = torch.nn.Linear(2, 1).state_dict()
    path = tmp_path / 'epoch_1.pth'
    torch.save(
        {
            'meta': {
                'env_info': 'sys.platform: linux',
                'config': 'model = dict()',
                'seed': None,
                'exp_name': 'a.py',
                'epoch': 1,
                'iter': 63,
                'mmcv_version': '1.3.17',
                'time': 'Mon Nov 29 10:00:00 2021',
                'hook_msgs': {'best_score': np.float64(0.25)},
                'CLASSES': ('Coverall', 'Mask'),
            },
            'state_dict': state,
            'optimizer': torch.optim.SGD(
                [torch.zeros(1)], lr=0.1, momentum=0.9
            ).state_dict(),
        },
        path,
        _use_new_zipfile_serialization=False,
    )
    saved = CheckpointLoader.load_checkpoint(str(path), 'cpu')
    assert saved['meta']['CLASSES'] == ('Coverall', 'Mask')
    assert saved['meta']['hook_msgs']['best_score'] == 0.25
    assert torch.equal(saved['state_dict']['weight'], state['weight'])


@pytest.fixture
def server(tmp_path):
    """Serve a folder over HTTP on this machine."""
    folder = tmp_path / 'served'
    folder.mkdir()
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(folder)
    )
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as http_:
        threading.Thread(target=http_.serve_forever, daemon=True).start()
        yield folder, f'http://127.0.0.1:{http_.server_port}'
        http_.shutdown()


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.hub, 'get_dir', lambda: str(tmp_path / 'hub'))
    return tmp_path / 'hub' / 'checkpoints'


def test_download_is_cached_by_address(server, hub_cache):
    folder, address = server
    for name, value in (('a', 1.0), ('b', 2.0)):
        (folder / name).mkdir()
        torch.save({'x': torch.tensor(value)}, folder / name / 'latest.pth')
    load = CheckpointLoader.load_checkpoint
    assert load(f'{address}/a/latest.pth', 'cpu')['x'] == 1.0
    assert load(f'{address}/b/latest.pth', 'cpu')['x'] == 2.0
    (folder / 'a' / 'latest.pth').unlink()
    assert load(f'{address}/a/latest.pth', 'cpu')['x'] == 1.0
    assert len(list(hub_cache.iterdir())) == 2


def test_file_with_a_hash_keeps_its_name_in_the_cache(server, hub_cache):
    folder, address = server
    torch.save({}, folder / 'a.pth')
    digest = hashlib.sha256((folder / 'a.pth').read_bytes()).hexdigest()
    name = f'resnet50-{digest[:8]}.pth'
    (folder / 'a.pth').rename(folder / name)
    own.load_from_http(f'{address}/{name}')
    assert [p.name for p in hub_cache.iterdir()] == [name]


def test_failed_download_names_the_address_and_leaves_nothing(
    server, hub_cache
):
    _, address = server
    with pytest.raises(OSError, match=f'{address}/no.pth, but.*404'):
        own.load_from_http(f'{address}/no.pth')
    assert list(hub_cache.iterdir()) == []


def test_names_of_models_lead_to_their_address(monkeypatch):
    seen = []
    monkeypatch.setattr(
        own, 'load_from_http', lambda url, _: seen.append(url) or {}
    )
    load = CheckpointLoader.load_checkpoint
    load('torchvision://resnet101')
    load('open-mmlab://detectron2/resnet50_caffe')
    assert [url.rpartition('/')[2] for url in seen] == [
        'resnet101-63fe2227.pth',
        'resnet50_msra-5891d200.pth',
    ]
    with pytest.raises(KeyError, match="'resnet1001' is none of"):
        load('open-mmlab://resnet1001')


@pytest.mark.parametrize('zipped', [True, False])
def test_file_cut_short_is_an_error_naming_it(tmp_path, zipped):
    path = tmp_path / 'a.pth'
    torch.save(
        {'x': torch.zeros(1000)}, path, _use_new_zipfile_serialization=zipped
    )
    path.write_bytes(path.read_bytes()[:-700])
    with pytest.raises(ValueError, match=r'a\.pth'):
        own.load_checkpoint_file(path)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r'no\.pth'):
        CheckpointLoader.load_checkpoint(str(tmp_path / 'no.pth'))


@pytest.mark.parametrize('kind', ['epoch', 'best_cppe5_AP_epoch'])
def test_a_damaged_last_checkpoint_offers_the_one_before(tmp_path, kind):
    for number in (2, 9, 10, 11):
        (tmp_path / f'{kind}_{number}.pth').write_bytes(b'PK\x03\x04 cut')
    (tmp_path / 'other_10.pth').touch()
    with pytest.raises(ValueError, match=rf'--resume .*{kind}_9\.pth\.$'):
        own.load_checkpoint_file(tmp_path / f'{kind}_10.pth')
    with pytest.raises(ValueError, match='nothing of it was executed.$'):
        own.load_checkpoint_file(tmp_path / f'{kind}_2.pth')
