"""Models of the configs, cut down in size and number but not in kind."""

import copy
import functools
import os
from pathlib import Path

import torch
from mmdet.registry import MODELS
from mmdet.structures import DetDataSample
from mmengine.config import Config
from mmengine.model import revert_sync_batchnorm
from mmengine.structures import InstanceData

CONFIGS = Path(__file__).parents[2] / 'configs' / 'cppe5'
PAPER = [
    'ssd',
    'yolov3',
    'faster_rcnn',
    'reppoints',
    'sparse_rcnn',
    'fcos',
    'grid_rcnn',
    'deformable_detr',
    'fsaf',
    'ld',
    'vfnet',
    'regnet',
    'double_heads',
    'dcn',
    'empirical_attention',
    'tridentnet',
]
MODERN = [
    'ssd512',
    'rtmdet_tiny',
    'rtmdet_l',
    'rtmdet_x',
    'dino_r50',
    'dino_swin_l',
    'ddq_detr_r50',
    'yolox_s',
    'mm_grounding_dino_tiny',
]

# Most that a setting may be in a test: proposals, samples, queries, depth.
LIMITS = {
    'max_per_img': 30,
    'nms_pre': 100,
    'num_queries': 60,
    'num_proposals': 20,
    'num_dn_queries': 10,
    'deform_fc_channels': 32,
}


def load(name):
    """Read a config, not to be changed, without the imports it names."""
    return _load(name, os.environ.get('CPPE5_DATA_ROOT'))


@functools.cache
def _load(name, data_root):
    """The configs take the data's folder from the environment."""
    return Config.fromfile(CONFIGS / f'{name}.py', import_custom_modules=False)


def without_pretrained(model):
    """Drop the weights that would be downloaded, at any depth."""
    if isinstance(model, dict):
        init = model.get('init_cfg')
        if isinstance(init, dict) and init.get('type') == 'Pretrained':
            model['init_cfg'] = None
        for value in model.values():
            without_pretrained(value)
    elif isinstance(model, (list, tuple)):
        for value in model:
            without_pretrained(value)
    return model


def shrink(model):
    """Cut a model config's numbers, in place, to what a CPU does at once."""
    if isinstance(model, (list, tuple)):
        for value in model:
            shrink(value)
        return model
    if not isinstance(model, dict):
        return model
    for key, value in model.items():
        if key in LIMITS:
            model[key] = min(value, LIMITS[key])
        shrink(value)
    kind = model.get('type', '')
    if kind in ('ResNet', 'ResNeXt'):
        model['depth'] = 50
    if kind == 'SwinTransformer':
        model['depths'] = [2, 2, 2, 2]
    if kind == 'RandomSampler':
        model['num'] = min(model['num'], 8)
    if kind == 'ModulatedDeformRoIPoolPack':
        model['deform_fc_channels'] = LIMITS['deform_fc_channels']
    return model


def small_model_config(name):
    """A config's model for tests: small, nothing to download."""
    model = copy.deepcopy(load(name).model)
    without_pretrained(shrink(model))
    if 'score_thr' in model.test_cfg:
        model.test_cfg.score_thr = 0.0
    if 'rcnn' in model.test_cfg:
        model.test_cfg.rcnn.score_thr = 0.0
    return model


def build(model_config):
    """Build a model as the Runner does on one device."""
    torch.manual_seed(0)
    model = revert_sync_batchnorm(MODELS.build(model_config))
    model.init_weights()
    return model


def batch(images=1, shape=(128, 160), **metainfo):
    """Images of noise with three boxes each, as a data loader gives them."""
    height, width = shape
    generator = torch.Generator().manual_seed(0)
    inputs, samples = [], []
    for number in range(images):
        inputs.append(
            torch.randint(
                256, (3, height, width), dtype=torch.uint8, generator=generator
            )
        )
        sample = DetDataSample(
            metainfo=dict(
                img_id=number,
                img_shape=(height, width),
                ori_shape=(2 * height, 2 * width),
                scale_factor=(0.5, 0.5),
                **metainfo,
            )
        )
        sample.gt_instances = InstanceData(
            bboxes=torch.tensor(
                [[10.0, 12, 60, 90], [40, 30, 120, 110], [5, 5, 20, 30]]
            ),
            labels=torch.tensor([0, 2, 4]),
        )
        sample.ignored_instances = InstanceData(
            bboxes=torch.zeros(0, 4), labels=torch.zeros(0).long()
        )
        samples.append(sample)
    return dict(inputs=inputs, data_samples=samples)
