"""Counts against the paper's and hand-counted ones; figures of any data."""

import json
from copy import deepcopy

import numpy as np
import pytest
from tiny_release import annotations

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.data.stats import Statistics, read_statistics


def read(tmp_path, dataset):
    path = tmp_path / 'gt.json'
    path.write_text(json.dumps(dataset))
    return read_statistics(path)


def make(boxes, labels, images=None, sizes=((100, 100),), classes=2):
    boxes = np.array(boxes, dtype=float).reshape(-1, 4)
    return Statistics(
        'x',
        tuple(f'c{k}' for k in range(classes)),
        tuple(range(len(sizes))),
        np.array(sizes, dtype=float).reshape(-1, 2),
        np.array(images or [0] * len(boxes), dtype=np.intp),
        np.array(labels, dtype=np.intp),
        boxes,
        boxes[:, 2:].prod(axis=1),
        0,
    )


def test_the_test_split_has_the_published_counts(test_data):
    """Counts of the test split as published with the data set."""
    stats = read_statistics(test_data / 'cppe5/annotations/test.json')
    numbers = stats.as_json()
    assert numbers['images'] == 29
    assert numbers['boxes'] == 207
    assert {n: c['boxes'] for n, c in numbers['classes'].items()} == {
        'Coverall': 45,
        'Face_Shield': 17,
        'Gloves': 61,
        'Goggles': 32,
        'Mask': 52,
    }
    assert numbers['sizes'] == {'small': 20, 'medium': 98, 'large': 89}
    assert numbers['boxes_per_image']['mean'] == pytest.approx(207 / 29)


def test_company_is_what_sets_say(test_data):
    path = test_data / 'cppe5/annotations/test.json'
    dataset = json.loads(path.read_text())
    images = {
        k: {a['image_id'] for a in dataset['annotations']
            if a['category_id'] == k}
        for k in range(1, 6)
    }  # fmt: skip
    expected = [
        [len(images[a] & images[b]) for b in range(1, 6)] for a in range(1, 6)
    ]
    assert read_statistics(path).together.tolist() == expected


def test_sizes_and_shapes_by_hand():
    stats = make(
        # Areas 1023, 1024, 9216: the edges belong to the larger bin.
        [[0, 0, 33, 31], [0, 0, 32, 32], [0, 0, 96, 96]],
        [0, 0, 1],
        sizes=[(200, 100)],
    )
    assert stats.size_bins.tolist() == [0, 1, 2]
    assert stats.class_sizes.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert stats.image_sides[0] == pytest.approx((200 * 100) ** 0.5)
    assert stats.image_ratios.tolist() == [2.0]
    assert stats.box_ratios[0] == pytest.approx(33 / 31)
    assert stats.relative_sides[1] == pytest.approx(32 / 20000**0.5)


def test_coverage_by_hand():
    """Four cells of 25 pixels; a cell counts if its centre is covered."""
    stats = make(
        [[0, 0, 50, 25], [13, 0, 25, 100], [90, 90, 50, 50]],
        [0, 0, 1],
    )
    assert (stats.coverage(0, 4) * 2).tolist() == [
        # 0..50 covers the centres 12.5 and 37.5; 13..38 only 37.5.
        [1, 2, 0, 0],
        [0, 1, 0, 0],
        [0, 1, 0, 0],
        [0, 1, 0, 0],
    ]
    # A box reaching beyond the image, and not over the last centre.
    assert stats.coverage(1, 4).sum() == 0
    assert stats.coverage(1, 10)[9, 9] == 1


def test_images_without_objects_and_crowds(tmp_path):
    dataset = annotations(1, 4)
    dataset['annotations'][0]['iscrowd'] = 1
    numbers = read(tmp_path, dataset).as_json()
    assert numbers['crowd_regions'] == 1
    assert numbers['boxes'] == 3
    assert numbers['images_without_objects'] == 1
    assert numbers['boxes_per_image']['counts'] == [1, 3]


def test_what_cannot_be_counted(tmp_path):
    dataset = annotations(1, 2)
    dataset['annotations'][0]['bbox'] = [1, 2, 0, 4]
    with pytest.raises(ValueError, match=r'every box .* 1 have none'):
        read(tmp_path, dataset)
    dataset = annotations(1, 2)
    del dataset['images'][0]['width']
    with pytest.raises(ValueError, match="Expected a 'width'"):
        read(tmp_path, dataset)


def empty():
    dataset = annotations(1, 0)
    dataset['annotations'] = []
    return dataset


def many_classes():
    dataset = annotations(1, 40)
    dataset['categories'] = [
        {'id': k, 'name': f'$class_{k}$ of a long, long name'}
        for k in range(1, 81)
    ]
    for k, item in enumerate(dataset['annotations']):
        item['category_id'] = 2 * k + 1
    return dataset


@pytest.mark.parametrize('dataset', [empty(), many_classes()])
def test_figures_of_any_data_set(tmp_path, dataset):
    pytest.importorskip('matplotlib')
    from mmdet_cppe5.data.stats_figures import draw_all

    stats = read(tmp_path, deepcopy(dataset))
    assert stats.parts()
    drawings = draw_all(stats)
    assert len({drawing.name for drawing in drawings}) == 6
    for drawing in drawings:
        # Something is drawn: not all pixels are one colour.
        assert len(np.unique(drawing.pixels(40).reshape(-1, 3), axis=0)) > 2


def test_command(tmp_path, capsys):
    pytest.importorskip('matplotlib')
    path = tmp_path / 'part.json'
    path.write_text(json.dumps(annotations(1, 10)))
    code = main(
        ['stats', str(path), '--json', str(tmp_path / 'n.json'), '--plots',
         str(tmp_path / 'plots')]
    )  # fmt: skip
    assert code == 0
    out = capsys.readouterr().out
    assert '10 images (0 without objects), 10 boxes, 5 classes' in out
    (numbers,) = json.loads((tmp_path / 'n.json').read_text())
    assert numbers['boxes'] == 10
    assert sorted(p.name for p in (tmp_path / 'plots/part').iterdir()) == [
        'box-shapes.png',
        'boxes-per-image.png',
        'class-counts.png',
        'company.png',
        'image-shapes.png',
        'positions.png',
    ]
