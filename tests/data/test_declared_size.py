"""A declared image size that is wrong: the one rule, and both its users."""

import json
from pathlib import Path

import numpy as np
import pytest

from mmdet_cppe5.data.declared_size import SizeFault, describe, remedy
from mmdet_cppe5.data.verify.fix import fix
from mmdet_cppe5.data.verify.image_facts import ImageFacts

# Declared size, the file's, a box, what is done; as docs/data.md lists them.
CASES = [
    (None, (100, 100), (0, 0, 100, 100), 'set'),
    (None, (100, 100), (0, 0, 200, 100), 'unknown'),
    ((500, 250), (1000, 500), None, 'set'),
    # CPPE-5's image 366: 290 high, not 500, and its boxes fit.
    ((500, 500), (500, 290), (10, 10, 400, 270), 'set'),
    ((500, 500), (500, 290), (10, 10, 400, 380), 'unknown'),
    ((500, 250), (1000, 500), (600, 100, 300, 100), 'set'),
    ((400, 300), (300, 400), (10, 320, 100, 50), 'set'),
    # Image 83: the file is smaller by 2.48, its boxes reach beyond it.
    ((2481, 1478), (1000, 600), (1200, 700, 300, 300), 'scale'),
    ((1000, 500), (500, 250), (0, 0, 100, 100), 'unknown'),
    ((500, 250), (1000, 500), (0, 0, 100, 100), 'unknown'),
    ((400, 300), (300, 400), (10, 10, 100, 50), 'unknown'),
    # Image 762: another shape, and a box of a frame that is neither.
    ((1200, 1200), (2246, 1498), (10, 1400, 90, 300), 'unknown'),
    # Half a pixel over the border is rounding, not evidence.
    ((500, 500), (500, 290), (10, 10, 400.4, 280.5), 'set'),
    ((500, 500), (500, 290), (10, 10, 400, 280.6), 'unknown'),
]


def rows(box):
    return np.array([] if box is None else [box], dtype=float).reshape(-1, 4)


@pytest.mark.parametrize(('declared', 'actual', 'box', 'expected'), CASES)
def test_remedy(declared, actual, box, expected):
    assert remedy(declared, actual, rows(box)) == expected


def test_masks_and_keypoints_are_not_scaled():
    case = (2481, 1478), (1000, 600), rows((1200, 700, 300, 300))
    assert remedy(*case, shaped=True) == 'unknown'


@pytest.mark.parametrize(('declared', 'actual', 'box', 'expected'), CASES)
def test_fix_follows_the_rule(tmp_path, declared, actual, box, expected):
    width, height = declared or (None, None)
    image = {'id': 1, 'file_name': 'a', 'width': width, 'height': height}
    annotations = [
        {'id': 1, 'image_id': 1, 'category_id': 1, 'bbox': list(b),
         'area': b[2] * b[3], 'iscrowd': 0}
        for b in ([] if box is None else [box])
    ]  # fmt: skip
    path = tmp_path / 'a.json'
    path.write_text(
        json.dumps(
            {
                'images': [image],
                'annotations': annotations,
                'categories': [{'id': 1, 'name': 'Mask'}],
            }
        )
    )
    fixed = fix(path, {0: ImageFacts(size=actual)})
    (image,) = fixed.dataset['images']
    known = expected != 'unknown'
    assert ((image['width'], image['height']) == actual) == known
    assert len(fixed.unresolved) == (not known)
    if expected == 'scale':
        scale = actual[0] / declared[0], actual[1] / declared[1]
        expected_box = [v * s for v, s in zip(box, scale * 2)]
        assert fixed.dataset['annotations'][0]['bbox'] == pytest.approx(
            expected_box, abs=1e-6
        )


def test_the_rule_is_one_table_in_the_documentation():
    text = Path(__file__).parents[2].joinpath('docs', 'data.md').read_text(encoding='utf-8')
    head = '| declared size | boxes, to half a pixel | done |'
    table = text.split(head)[1].split('\n\n')[0]
    done = [line.split('|')[3].strip() for line in table.splitlines()[2:]]
    assert text.count(head) == 1
    assert sorted(set(done)) == [
        'boxes scaled to the file',
        'left and named; left out of training',
        "set to the file's",
    ]


def test_description_counts_what_was_done():
    faults = [
        SizeFault(366, (500, 500), (500, 290), 'set'),
        SizeFault(83, (2481, 1478), (1000, 600), 'scale'),
        SizeFault(762, (1200, 1200), (2246, 1498), 'unknown'),
        SizeFault(763, (1200, 1200), (2246, 1498), 'unknown'),
    ]
    text = describe(faults, 1000, 'fix')
    assert '4 of 1000 images' in text
    assert 'id 366 declares 500x500, its file is 500x290' in text
    assert text.endswith(
        '1 given the size of their file, 1 with their boxes rescaled to it, '
        '2 left out'
    )
    assert 'all 29 images' in describe([], 29, 'fix')
