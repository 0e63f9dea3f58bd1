"""Released MMDetection 2.x checkpoints as MMDetection 3.x ones.

Thirteen of the fifteen released networks have the same weights under the same
names in MMDetection 3.3.0. Deformable DETR has the same weights under 232
other names. What a file holds is told from its tensors, not from its name:
two of the released names are wrong or doubtful.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from mmdet_cppe5.classes import CLASSES, PALETTE
from mmdet_cppe5.coco.records import listed

# A network is known by a tensor that no other has, if need be by its shape.
# The order matters: Faster R-CNN is what has none of the others' tensors.
_PROBES: tuple[tuple[str, str, tuple[int, ...] | None], ...] = (
    (
        'dcn',
        'roi_head.bbox_roi_extractor.roi_layers.0.offset_fc.0.weight',
        None,
    ),
    ('double_heads', 'roi_head.bbox_head.fc_branch.0.weight', None),
    ('grid_rcnn', 'roi_head.grid_head.convs.0.conv.weight', None),
    (
        'sparse_rcnn',
        'roi_head.bbox_head.0.instance_interactive_conv.dynamic_layer.weight',
        None,
    ),
    ('tridentnet', 'roi_head.shared_head.layer4.0.conv1.weight', None),
    (
        'empirical_attention',
        'backbone.layer3.0.gen_attention_block.gamma',
        None,
    ),
    ('regnet', 'backbone.layer1.0.conv1.weight', (96, 32, 1, 1)),
    (
        'released/regnet_4gf_released',
        'backbone.layer1.0.conv1.weight',
        (80, 32, 1, 1),
    ),
    ('faster_rcnn', 'roi_head.bbox_head.shared_fcs.0.weight', None),
    ('yolov3', 'bbox_head.convs_pred.0.weight', None),
    ('reppoints', 'bbox_head.reppoints_cls_out.weight', None),
    ('vfnet', 'bbox_head.vfnet_cls.weight', None),
    ('ld', 'bbox_head.gfl_cls.weight', None),
    ('fsaf', 'bbox_head.retina_cls.weight', None),
    ('fcos', 'bbox_head.conv_centerness.weight', None),
    ('deformable_detr', 'bbox_head.cls_branches.0.weight', None),
)

_LAYERS = r'bbox_head\.transformer\.((?:encoder|decoder)\.layers\.\d+)\.'
_RENAMES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r'bbox_head\.query_embedding\.', 'query_embedding.'),
        (r'bbox_head\.transformer\.level_embeds', 'level_embed'),
        (
            r'bbox_head\.transformer\.reference_points\.',
            'reference_points_fc.',
        ),
        (_LAYERS + r'attentions\.0\.', r'\1.self_attn.'),
        (_LAYERS + r'attentions\.1\.', r'\1.cross_attn.'),
        (_LAYERS + r'ffns\.0\.', r'\1.ffn.'),
        (_LAYERS + r'norms\.', r'\1.norms.'),
    )
)

# Where the number of classes shows: tensor, rows for each class, and rows
# that belong to the background or the box.
_CLASS_ROWS = (
    (r'roi_head\.bbox_head\.fc_cls\.weight', 1, 1),
    (r'roi_head\.bbox_head\.0\.fc_cls\.weight', 1, 0),
    (r'bbox_head\.(conv|retina|gfl|vfnet)_cls\.weight', 1, 0),
    (r'bbox_head\.reppoints_cls_out\.weight', 1, 0),
    (r'bbox_head\.cls_branches\.0\.weight', 1, 0),
    # Three anchors, each with a box and an objectness of 5 rows.
    (r'bbox_head\.convs_pred\.0\.weight', 3, 15),
)


def identify(state: Mapping[str, Tensor]) -> str:
    """Tell which of the released networks some weights belong to.

    Args:
        state: weights by name.

    Returns:
        The name of the config.

    Raises:
        ValueError: if it is none of them.
    """
    for config, key, shape in _PROBES:
        if key in state and shape in (None, tuple(state[key].shape)):
            return config
    raise ValueError(
        "Expected the weights of one of the paper's networks, but none has "
        f'tensors such as {next(iter(state), "(none)")}; give a config.'
    )


def count_classes(state: Mapping[str, Tensor]) -> tuple[int, str]:
    """Tell the number of classes, and the tensor that shows it.

    Raises:
        ValueError: if no classifying tensor of a known network is there.
    """
    for pattern, rows, others in _CLASS_ROWS:
        for key in state:
            if re.fullmatch(pattern, key):
                return (len(state[key]) - others) // rows, key
    raise ValueError(
        'Expected a tensor that classifies, such as roi_head.bbox_head.'
        'fc_cls.weight, to tell the number of classes, but there is none.'
    )


def new_name(key: str) -> str:
    """Return the name that a weight of MMDetection 2.x has in 3.x."""
    for pattern, replacement in _RENAMES:
        renamed, count = pattern.subn(replacement, key, count=1)
        if count:
            return renamed
    return key


def _bare(name: str) -> str:
    """Return a name without what parallel training puts before it."""
    return name[len('module.') :] if name.startswith('module.') else name


def convert_state(state: Mapping[str, Tensor]) -> OrderedDict[str, Tensor]:
    """Rename weights, and drop averages that nothing loads.

    Args:
        state: weights of a 2.x checkpoint, with or without the ``module.``
            that parallel training puts before the names.

    Returns:
        Weights under the names of 3.x, in the same order and with the layer
        versions that torch keeps beside them.
    """
    converted: OrderedDict[str, Tensor] = OrderedDict()
    for key, value in state.items():
        bare = _bare(key)
        if not bare.startswith('ema_'):
            converted[new_name(bare)] = value
    versions = getattr(state, '_metadata', None)
    if versions is not None:
        # A layer's path, as the start of its weights' names.
        converted._metadata = OrderedDict(  # type: ignore[attr-defined]
            (new_name(f'{_bare(path)}.')[:-1], version)
            for path, version in versions.items()
        )
    return converted


def check_fit(
    state: Mapping[str, Tensor], model: nn.Module, config: str
) -> None:
    """Refuse weights that are not exactly a model's.

    Args:
        state: converted weights.
        model: the model of ``config``.
        config: its name, for the message.

    Raises:
        ValueError: naming the first tensor whose shape differs, or is
            missing, or has no place, and how many there are.
    """
    wanted = model.state_dict()
    differing = [
        f'{key} is {list(state[key].shape)}, not {list(value.shape)}'
        for key, value in wanted.items()
        if key in state and state[key].shape != value.shape
    ]
    missing = [f'{key} is missing' for key in wanted if key not in state]
    extra = [f'{key} has no place' for key in state if key not in wanted]
    faults = differing + missing + extra
    if faults:
        shown = '; '.join(
            kind[0] for kind in (differing, missing, extra) if kind
        )
        raise ValueError(
            f'Expected the weights of {config}, but {shown} ({len(faults)} '
            f'tensors of {len(wanted)} do not fit).'
        )


def convert_checkpoint(
    checkpoint: Mapping[str, Any], model: nn.Module, config: str, source: str
) -> dict[str, Any]:
    """Convert a released checkpoint.

    Args:
        checkpoint: what the file holds: ``state_dict`` and ``meta``. The
            state of an optimiser, which 3.x cannot go on with, is left out.
        model: the model of ``config``.
        config: name of the config that the weights are for.
        source: file name and digest, kept as the provenance.

    Returns:
        A 3.x checkpoint. ``meta`` has the classes and palette, and under
        ``converted_from`` the source and the old ``meta``.

    Raises:
        ValueError: if there are no weights, or not those of the model.
    """
    state = checkpoint.get('state_dict')
    if not isinstance(state, Mapping) or not state:
        raise ValueError(
            'Expected a checkpoint with weights under state_dict, but got '
            f'the keys {listed(sorted(map(str, checkpoint)))}.'
        )
    converted = convert_state(state)
    classes, key = count_classes(converted)
    if classes != len(CLASSES):
        raise ValueError(
            f'Expected weights for the {len(CLASSES)} classes of CPPE-5, but '
            f'{key} {list(converted[key].shape)} has {classes} classes.'
        )
    check_fit(converted, model, config)
    meta = {
        'dataset_meta': {'classes': CLASSES, 'palette': list(PALETTE)},
        'config': config,
        'converted_from': {
            'source': source,
            'meta': dict(checkpoint.get('meta') or {}),
        },
    }
    return {'meta': meta, 'state_dict': converted}
