"""Categories that share a name: told apart by id, as COCO does."""

import json

import pytest
from world import found, judged, truth

from mmdet_cppe5.coco import parse_categories


def with_root(data, **fields):
    """Add an unannotated root category, as one well-known exporter does."""
    root = {'id': 0, 'name': 'mask', 'supercategory': 'none', **fields}
    return {**data, 'categories': [root, *data['categories']]}


def test_an_unannotated_namesake_is_left_out_with_a_note(folder):
    data, entries = with_root(truth()), found()
    scores, complaint = folder.scores(data, entries)
    assert scores['AP'] == pytest.approx(judged(data, entries)[0], abs=1e-9)
    assert 'without annotations under the name of another one' in complaint
    document = json.loads((folder.path / 'scores.json').read_text())
    assert list(document['classes']) == ['mask', 'gloves', 'goggles']


@pytest.mark.parametrize('repeated', [2, 3])
def test_annotated_namesakes_are_told_apart_by_id(folder, repeated):
    data, entries = truth(), found()
    for category in data['categories'][:repeated]:
        category['name'] = 'thing'
    scores, complaint = folder.scores(data, entries)
    assert scores['AP'] == pytest.approx(judged(data, entries)[0], abs=1e-9)
    assert 'they are told apart by id' in complaint
    text = (folder.path / 'scores.json').read_text()
    assert all(f'thing (id {k})' in text for k in range(1, repeated + 1))


def test_a_class_is_asked_for_by_its_told_apart_name(folder):
    data, entries = truth(), found()
    data['categories'][1]['name'] = 'mask'
    gt, dt = folder.write('gt.json', data), folder.write('dt.json', entries)
    code, _, complaint = folder.run(
        'evaluate', gt, dt, '--no-ci', '--classes', 'mask (id 2)'
    )
    assert code == 0, complaint
    said = folder.sentence('evaluate', gt, dt, '--classes', 'mask')
    assert "'mask (id 1)', 'mask (id 2)'" in said


@pytest.mark.parametrize(
    'words',
    [
        ('compare', 'gt.json', 'dt.json', 'dt.json'),
        ('report', 'gt.json', 'dt.json', '--out', 'r.html'),
        ('stats', 'gt.json'),
        ('split', 'gt.json', '--out-dir', 'parts', '--val', '0.5'),
        ('convert', 'to-yolo', 'gt.json', 'yolo', '--split', 'val'),
    ],
)
@pytest.mark.parametrize('annotated', [False, True])
def test_other_commands_read_such_files(folder, words, annotated, monkeypatch):
    monkeypatch.chdir(folder.path)
    data = with_root(truth())
    if annotated:
        data['annotations'][0]['category_id'] = 0
    folder.write('gt.json', data)
    folder.write('dt.json', found())
    code, _, complaint = folder.run(*words)
    assert code == 0, complaint


def test_a_data_set_selects_by_name():
    data = with_root(truth())
    assert parse_categories(data, 'gt.json', ('mask', 'gloves')) == (
        ('mask', 'gloves'),
        (1, 2),
    )


def test_the_nearest_class_names_are_shown(folder):
    gt, dt = (
        folder.write('gt.json', truth()),
        folder.write('dt.json', found()),
    )
    said = folder.sentence('evaluate', gt, dt, '--classes', 'Mask', 'glove')
    assert "(nearest: 'mask', 'gloves')" in said


def test_a_million_categories_take_bounded_time():
    data = truth()
    data['categories'] += [
        {'id': key, 'name': f'name {key % 1000}'} for key in range(10, 200_000)
    ]
    names, _ = parse_categories(data, 'gt.json')
    assert len(names) == 3 + 200_000 - 10
