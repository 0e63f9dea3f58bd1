"""Box results read as columns, against the reader of any JSON."""

import json

import numpy as np
import pytest
from builders import annotation, coco_dataset, entry

from mmdet_cppe5.coco import parse_ground_truth, parse_results, read_results
from mmdet_cppe5.coco.box_records import BoxRecords, load_results

BOX = [10, 10.5, 50, 50]


def ground_truth():
    return parse_ground_truth(coco_dataset([annotation(1, 1, BOX)]), 'gt.json')


def test_columns_are_what_the_records_hold(tmp_path):
    entries = [entry(1, 1, BOX, 0.25), entry(1, 1, [0, 0, 1, 2], 1)]
    path = tmp_path / 'results.json'
    path.write_text(json.dumps(entries))
    records = load_results(path)
    assert isinstance(records, BoxRecords)
    assert list(records.items) == entries
    assert records.column('image_id') == [1, 1]
    truth = ground_truth()
    fast, slow = read_results(path, truth), parse_results(entries, '', truth)
    for name in ('image', 'label', 'scores', 'entry'):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))
    np.testing.assert_array_equal(fast.boxes(), slow.boxes())


@pytest.mark.parametrize(
    'change',
    [
        {'segmentation': [[0, 0, 1, 1, 1, 0]]},
        {'image_id': '1'},
        {'image_id': 2**70},
        {'score': True},
        {'score': None},
        {'bbox': [1, 2, 3]},
        {'bbox': [1, 2, 3, -4]},
        {'score': float('nan')},
        {'category_id': 99},
    ],
)
def test_anything_else_reads_or_fails_as_any_json(tmp_path, change):
    entries = [entry(1, 1, BOX, 0.5), {**entry(1, 1, BOX, 0.5), **change}]
    path = tmp_path / 'results.json'
    path.write_text(json.dumps(entries))

    def outcome(read):
        try:
            found = read()
            return found.boxes().tolist(), list(found.records.items)
        except ValueError as error:
            return str(error)

    truth = ground_truth()
    fast = outcome(lambda: read_results(path, truth))
    parsed = json.loads(path.read_text())
    slow = outcome(lambda: parse_results(parsed, str(path), truth))
    if change.get('bbox') == [1, 2, 3, -4]:
        # Numbers are shown as read: 1.0 for 1.
        fast = fast.replace('.0', '')
    assert fast == slow
