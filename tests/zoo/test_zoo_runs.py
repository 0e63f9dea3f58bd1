"""Every network trains a step and predicts on a CPU, on random weights."""

import pytest
import torch
import zoo_models
from mmdet.models.backbones.trident_resnet import TridentConv
from mmengine.config import Config
from mmengine.logging import MessageHub
from mmengine.optim import build_optim_wrapper
from mmengine.registry import init_default_scope

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.zoo.upstream import upstream_config_path

# Networks whose boxes may lie outside the image, in MMDetection too.
UNCLIPPED = {'yolov3', 'sparse_rcnn', 'grid_rcnn', 'yolox_s'}
# Backbone weights that no output depends on.
UNUSED = {'ssd': 'conv2'}
# SSD 512's last layer needs 4 cells where others shrink to 2.
SHAPES = {'ssd512': (320, 320)}
# More of the same parts as rtmdet_l and dino_r50, in half a minute each.
LARGER = {'rtmdet_x', 'dino_swin_l'}
# Most predictions where no setting caps them: one for each point.
UNCAPPED = {'yolox_s': 16 * 20 + 8 * 10 + 4 * 5}


@pytest.fixture(autouse=True)
def as_in_a_runner():
    init_default_scope('mmdet')
    MessageHub.get_current_instance().update_info('iter', 0)


def tiny_text_encoder(folder):
    """Save a random BERT of the words that the prompts need."""
    transformers = pytest.importorskip(
        'transformers', reason='the text encoder is an extra'
    )
    words = '[PAD] [UNK] [CLS] [SEP] [MASK] . ? coverall face shield gloves'
    vocabulary = [*words.split(), 'goggles', 'mask']
    (folder / 'vocab.txt').write_text('\n'.join(vocabulary))
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return str(folder)


def small_model(name, folder):
    config = zoo_models.small_model_config(name)
    if name == 'ld':
        path = config.teacher_config[len('mmdet::') :]
        teacher = Config.fromfile(upstream_config_path(path))
        zoo_models.shrink(teacher.model)
        config.update(teacher_config=teacher, teacher_ckpt=None)
    if name == 'mm_grounding_dino_tiny':
        config.language_model.name = tiny_text_encoder(folder)
    model = zoo_models.build(config)
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            # One step is all the statistics that predicting goes by.
            module.momentum = 1.0
        if isinstance(module, TridentConv):
            # MMDetection leaves these to the pretrained weights.
            torch.nn.init.kaiming_normal_(module.weight)
    if name == 'tridentnet':
        # Its batch norm is frozen, so random residuals add up without end.
        for key, weight in model.named_parameters():
            if key.endswith('bn3.weight'):
                torch.nn.init.constant_(weight, 0.1)
    return model


def losses_with_gradients(model, batch):
    """Return a batch's losses by name, after the backward pass."""
    model.train()
    losses = model(**model.data_preprocessor(batch, True), mode='loss')
    total, by_name = model.parse_losses(losses)
    total.backward()
    return by_name


def check_gradients(name, model):
    """Every trained weight of the backbone got one, from the first stage on.

    A fresh residual branch ends in a zero that lets no gradient in, so the
    first stage counts as a whole.
    """
    trained = [
        (key, weight)
        for key, weight in model.backbone.named_parameters()
        if weight.requires_grad and not key.startswith(UNUSED.get(name, '-'))
    ]
    assert all(weight.grad.isfinite().all() for _, weight in trained)
    stage = trained[0][0].split('.')[0]
    assert any(
        weight.grad.any() for key, weight in trained if key.startswith(stage)
    )


def check_predictions(samples, most, clipped):
    for sample in samples:
        found = sample.pred_instances
        assert 0 < len(found) <= most
        assert found.bboxes.shape == (len(found), 4)
        assert found.bboxes.isfinite().all()
        assert ((found.scores >= 0) & (found.scores <= 1)).all()
        assert found.labels.dtype == torch.int64
        assert ((found.labels >= 0) & (found.labels < len(CLASSES))).all()
        if clipped:
            # To the original image, which is twice the network's.
            height, width = sample.ori_shape
            limit = torch.tensor([width, height, width, height])
            assert (found.bboxes >= 0).all()
            assert (found.bboxes <= limit).all()
            assert (found.bboxes[:, 2:] >= found.bboxes[:, :2]).all()


@pytest.mark.parametrize(
    'name',
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LARGER else [])
        for name in [*zoo_models.PAPER, *zoo_models.MODERN]
    ],
)
def test_trains_a_step_and_predicts(name, tmp_path):
    model = small_model(name, tmp_path)
    wrapper = build_optim_wrapper(model, zoo_models.load(name).optim_wrapper)
    text = dict(text=CLASSES, custom_entities=True)
    batch = zoo_models.batch(
        shape=SHAPES.get(name, (128, 160)),
        **text if 'grounding' in name else {},
    )

    losses = losses_with_gradients(model, batch)

    assert len(losses) > 1
    for loss_name, value in losses.items():
        assert torch.as_tensor(value).isfinite().all(), loss_name
    check_gradients(name, model)

    model.eval()
    with torch.no_grad():
        predictions = model(
            **model.data_preprocessor(batch, False), mode='predict'
        )
    check_predictions(
        predictions,
        UNCAPPED.get(name, zoo_models.LIMITS['max_per_img']),
        clipped=name not in UNCLIPPED,
    )

    before = [weight.detach().clone() for weight in model.parameters()]
    wrapper.step()
    after = list(model.parameters())
    assert any(not torch.equal(a, b) for a, b in zip(before, after))
    assert all(weight.isfinite().all() for weight in after)
