"""Runs and inferencers given a checkpoint that steers them."""

import os
from collections import OrderedDict

import pytest
import torch
from mmdet.apis import DetInferencer
from mmengine.logging import HistoryBuffer, MessageHub
from test_checkpoint import run

from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
from mmdet_cppe5.engine.disarm import disarmed


@pytest.fixture
def marker(tmp_path):
    return tmp_path / 'marker'


def attacks(marker):
    touch = f"__import__('os').system('touch {marker}')"
    return [f'x = {touch}', f"model = dict(type='os.system', command={touch})"]


def test_resuming_runs_no_text_and_deletes_no_file(tmp_path, marker):
    run(tmp_path / 'a', 1)
    victim = tmp_path / 'victim.json'
    victim.write_text('mine')
    path = tmp_path / 'a' / 'epoch_1.pth'
    saved = torch.load(path, weights_only=False)
    for text in attacks(marker):
        saved['meta']['config'] = saved['meta']['cfg'] = text
        saved['message_hub']['runtime_info'].update(
            cfg=text, best_ckpt=str(victim), keep_ckpt_ids=['../../victim']
        )
        torch.save(saved, path)
        with_it = run(
            tmp_path / 'b', 2, load_from=str(path), resume=True
        ).message_hub.runtime_info
        assert not marker.exists()
        assert 'best_ckpt' not in with_it
        assert 'keep_ckpt_ids' not in with_it
    assert victim.read_text() == 'mine'


@pytest.mark.parametrize('place', ['meta', 'hub'])
def test_an_inferencer_of_weights_alone_runs_no_text(tmp_path, marker, place):
    for text in attacks(marker):
        saved = {'state_dict': OrderedDict(), 'meta': {'cfg': text}}
        if place == 'hub':
            saved['message_hub'] = {'runtime_info': {'cfg': text}}
        torch.save(saved, tmp_path / 'a.pth')
        with pytest.raises(ValueError, match='Cannot find the config'):
            DetInferencer(weights=str(tmp_path / 'a.pth'), device='cpu')
        assert not marker.exists()


def test_both_forms_of_the_hub_and_names_beside_it_are_kept(tmp_path):
    beside = tmp_path / 'best_coco_bbox_mAP_epoch_1.pth'
    beside.write_bytes(b'x')
    os.symlink('/etc/passwd', tmp_path / 'best_link.pth')
    info = {
        'best_ckpt': str(beside),
        'best_ckpt_coco/bbox_mAP': str(tmp_path / 'best_link.pth'),
        'last_ckpt': str(tmp_path / 'b' / 'x.pth'),
        'keep_ckpt_ids': [1, 2],
        'epoch': 3,
        'cfg': 'gpu_ids = range(0, 2)',
    }
    hub = MessageHub('test_both_forms_of_the_hub')
    hub._runtime_info.update(info)
    hub._log_scalars['loss'] = HistoryBuffer([1.0], [1])
    source = str(tmp_path / 'epoch_1.pth')
    for form in (hub, {'runtime_info': dict(info)}):
        torch.save({'meta': {}, 'message_hub': form}, source)
        back = load_checkpoint_file(source)['message_hub']
        back = back if isinstance(back, dict) else vars(back)
        kept = back.get('runtime_info', back.get('_runtime_info'))
        assert dict(kept) == {
            'best_ckpt': str(beside), 'keep_ckpt_ids': [1, 2], 'epoch': 3,
            'cfg': 'gpu_ids = [0, 1]\n',
        }  # fmt: skip


@pytest.mark.parametrize(
    'wrong',
    [
        {'meta': []},
        {'state_dict': 1},
        {'state_dict': {1: 2}},
        {'message_hub': 'x'},
        {'message_hub': {'runtime_info': []}},
    ],
)
def test_parts_of_the_wrong_kind_are_named(wrong):
    with pytest.raises(ValueError, match='is not a dictionary|the name 1'):
        disarmed(wrong, 'a.pth')
