"""MM-Grounding-DINO, Swin-T: zero-shot and fine-tuning, 12 epochs.

The class names are the prompts. Testing this config with the checkpoint that
``load_from`` names is the zero-shot result; training starts from it.
Needs the text encoder: ``pip install 'mmdet-cppe5[grounding]'``.
"""

_base_ = [
    'mmdet::mm_grounding_dino/coco/grounding_dino_swin-t_finetune_16xb4_1x_coco.py',
    '../_base_/datasets/cppe5.py',
]

# Upstream trades time for memory with fairscale, one more package to install.
model = dict(type='PromptedGroundingDINO', encoder=dict(num_cp=0))

train_dataloader = dict(
    dataset=dict(**_base_.cppe5_train, return_classes=True)
)
val_dataloader = dict(dataset=_base_.cppe5_test)
test_dataloader = val_dataloader
val_evaluator = dict(_delete_=True, **_base_.cppe5_evaluator)
test_evaluator = val_evaluator
default_hooks = _base_.cppe5_hooks
