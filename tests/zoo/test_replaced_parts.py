"""The stock faults that the replaced parts mend, and that they mend them."""

import pytest
import torch
import zoo_models
from mmdet.models.dense_heads import SSDHead
from mmdet.registry import MODELS
from mmengine.config import Config
from mmengine.registry import init_default_scope
from mmengine.structures import InstanceData

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.models import FixedSSDHead
from mmdet_cppe5.zoo import upstream


def predict(head):
    """Predict on one level of four cells with two anchors each."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(1, 2 * 6, 2, 2, generator=generator)
    boxes = torch.randn(1, 2 * 4, 2, 2, generator=generator) * 0.1
    return head.predict_by_feat(
        [scores], [boxes], batch_img_metas=[dict(img_shape=(64, 64))]
    )[0]


@pytest.fixture
def ssd_settings():
    init_default_scope('mmdet')
    return dict(
        num_classes=5,
        in_channels=(8,),
        anchor_generator=dict(
            type='AnchorGenerator',
            strides=[32],
            ratios=[1.0],
            octave_base_scale=1,
            scales_per_octave=2,
        ),
        bbox_coder=dict(type='DeltaXYWHBBoxCoder'),
        test_cfg=Config(
            dict(
                nms_pre=100,
                min_bbox_size=0,
                score_thr=0.02,
                nms=dict(type='nms', iou_threshold=0.45),
                max_per_img=20,
            )
        ),
    )


def test_stock_ssd_head_cannot_predict_and_the_fixed_one_can(ssd_settings):
    # When this stops failing, FixedSSDHead has done its time.
    with pytest.raises(AttributeError, match='loss_cls'):
        predict(SSDHead(**ssd_settings))

    found = predict(FixedSSDHead(**ssd_settings))

    assert isinstance(found, InstanceData)
    assert 0 < len(found) <= 20
    assert (found.scores[:-1] >= found.scores[1:]).all()


def test_teacher_is_read_when_training_starts(tmp_path):
    init_default_scope('mmdet')
    config = zoo_models.small_model_config('ld')
    teacher = Config.fromfile(
        upstream.upstream_config_path('gfl/gfl_r101_fpn_ms-2x_coco.py')
    )
    zoo_models.shrink(teacher.model)
    path = tmp_path / 'teacher.pth'
    config.update(teacher_config=teacher, teacher_ckpt=str(path))
    # There is no such file yet: neither building nor predicting reads it.
    model = zoo_models.build(config).eval()
    batch = zoo_models.batch()
    with torch.no_grad():
        model(**model.data_preprocessor(batch, False), mode='predict')
    state = model.teacher_model.state_dict()
    state['bbox_head.gfl_cls.bias'] = torch.full((80,), -3.0)
    torch.save({'state_dict': state}, path)

    assert model.train() is model
    model(**model.data_preprocessor(batch, True), mode='loss')

    assert (model.teacher_model.bbox_head.gfl_cls.bias == -3).all()
    assert not any(key.startswith('teacher') for key in model.state_dict())
    assert not model.teacher_model.training


def test_teacher_of_the_config_is_mmdetection_s():
    name = zoo_models.load('ld').model.teacher_config

    path = upstream.upstream_config_path(name[len('mmdet::') :])

    teacher = Config.fromfile(path).model
    assert (teacher.type, teacher.backbone.depth) == ('GFL', 101)
    assert teacher.bbox_head.num_classes == 80


def test_missing_text_encoder_is_named(monkeypatch):
    init_default_scope('mmdet')
    found = upstream.importlib.util.find_spec
    monkeypatch.setattr(
        'importlib.util.find_spec',
        lambda name: None if name == 'transformers' else found(name),
    )

    with pytest.raises(ImportError, match=r'mmdet-cppe5\[grounding\]'):
        MODELS.build(zoo_models.load('mm_grounding_dino_tiny').model)


def test_missing_upstream_files_are_named():
    with pytest.raises(FileNotFoundError, match=r'fcos/nothing\.py'):
        upstream.upstream_config_path('fcos/nothing.py')
    with pytest.raises(KeyError, match='list weights for'):
        upstream.coco_checkpoint(
            'fcos/fcos_r50-caffe_fpn_gn-head_4xb4-1x_coco.py'
        )
