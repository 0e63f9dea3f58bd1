"""Small COCO data sets and results, written where they are used."""

import json


def annotation(image_id, category_id, bbox, **fields):
    """One annotation; an id is given by ``coco_dataset`` if none is here."""
    return {
        'image_id': image_id,
        'category_id': category_id,
        'bbox': list(bbox),
        **fields,
    }


def entry(image_id, category_id, bbox, score):
    """One detection of a COCO result file."""
    return {
        'image_id': image_id,
        'category_id': category_id,
        'bbox': list(bbox),
        'score': score,
    }


def coco_dataset(annotations, image_ids=(1,), categories=None, complete=True):
    """A COCO annotation file as a dict.

    ``categories`` maps id to name. With ``complete``, annotations get what
    pycocotools insists on: an id from 1, ``area`` and ``iscrowd``.
    """
    categories = categories or {1: 'A', 2: 'B'}
    full = []
    for number, item in enumerate(annotations, start=1):
        defaults = {}
        if complete:
            area = item['bbox'][2] * item['bbox'][3]
            defaults = {'id': number, 'area': area, 'iscrowd': 0}
        full.append({**defaults, **item})
    return {
        'images': [
            {'id': key, 'file_name': f'{key}.png', 'width': 640, 'height': 480}
            for key in image_ids
        ],
        'annotations': full,
        'categories': [
            {'id': key, 'name': name} for key, name in categories.items()
        ],
    }


def write(path, value):
    """Write ``value`` as JSON and return the path as a string."""
    path.write_text(json.dumps(value))
    return str(path)


def logged_scores(work_dir):
    """What the newest test run under ``work_dir`` logged, by key."""
    logs = sorted(work_dir.glob('*/*.json'))
    return json.loads(logs[-1].read_text().splitlines()[-1])


def speed_record(name='a', fps=10.0, **settings):
    """A record of an inference benchmark, as far as comparing reads it."""
    return {
        'kind': 'mmdet-cppe5/inference-benchmark',
        'version': 1,
        'model': {'name': name, 'weights': 'checkpoint'},
        'settings': {
            'precision': 'fp32',
            'batch_size': 1,
            'input_size': [1333, 800],
            'synthetic': None,
            'threads': 2,
            'include_loading': False,
            'channels_last': False,
            'compile': False,
            'fuse_conv_bn': False,
            **settings,
        },
        'fps': {'mean': fps, 'interval_95': [fps - 1, fps + 1]},
        'ms_per_image': {'median': 1000 / fps},
        'machine': {'device_name': 'CPU X', 'gpu': None},
        'software': {'torch': '2.13.0'},
    }
