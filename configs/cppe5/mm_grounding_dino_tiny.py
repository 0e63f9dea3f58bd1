"""MM-Grounding-DINO, Swin-T: zero-shot and fine-tuning, 12 epochs.

The class names are the prompts. Testing this config with the checkpoint that
``load_from`` names is the zero-shot result; training starts from it.
Needs the text encoder: ``pip install 'mmdet-cppe5[grounding]'``.
"""

_base_ = [
    'mmdet::mm_grounding_dino/coco/grounding_dino_swin-t_finetune_16xb4_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

# Upstream trades time for memory with fairscale, one more package to install.
model = dict(type='PromptedGroundingDINO', encoder=dict(num_cp=0))

globals().update(use_protocol(_base_, train=dict(return_classes=True)))
