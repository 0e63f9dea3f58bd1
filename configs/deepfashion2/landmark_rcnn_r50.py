"""Faster R-CNN with a landmark head, ResNet-50 FPN, 12 epochs."""

_base_ = [
    'mmdet::faster_rcnn/faster-rcnn_r50_fpn_1x_coco.py',
    '../_base_/datasets/deepfashion2.py',
]

from mmdet_cppe5.zoo.protocol import use_protocol

model = dict(
    roi_head=dict(
        type='LandmarkRoIHead',
        bbox_head=dict(num_classes=13),
        mask_roi_extractor=dict(
            type='SingleRoIExtractor',
            roi_layer=dict(type='RoIAlign', output_size=14, sampling_ratio=0),
            out_channels=256,
            featmap_strides=[4, 8, 16, 32],
        ),
        mask_head=dict(type='LandmarkHead'),
    )
)

# Not flipped: see PackLandmarks.
train_pipeline = [
    *_base_.train_pipeline[:3],
    dict(type='PackLandmarks'),
]
globals().update(
    use_protocol(
        _base_,
        train=dict(with_landmarks=True, pipeline=train_pipeline),
        evaluator=dict(tasks=('bbox', 'keypoints')),
    )
)
default_hooks['checkpoint']['save_best'] = 'deepfashion2/keypoints_AP'
