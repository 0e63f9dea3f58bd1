"""Retrieval by the RoI features of Faster R-CNN: a baseline, for testing.

Takes the checkpoint of `faster_rcnn_r50.py`; nothing more is trained. Every
detection in a user's image lists the 20 detections in the shops' images whose
features have the largest cosine. The two files come from
`mmdet-cppe5 deepfashion2-convert --queries-out ... --gallery-out ...`.
"""

_base_ = './faster_rcnn_r50.py'

# Unsure detections would only fill the gallery with wrong items.
model = dict(
    roi_head=dict(type='FeatureRoIHead'),
    test_cfg=dict(rcnn=dict(score_thr=0.3, max_per_img=10)),
)

annotations = _base_.test_dataloader.dataset.data_root + 'annotations/'
test_evaluator = dict(
    _delete_=True,
    type='DeepFashion2FeatureRetrievalMetric',
    query_file=annotations + 'validation_query.json',
    gallery_file=annotations + 'validation_gallery.json',
)
