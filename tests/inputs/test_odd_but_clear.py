"""Files that pycocotools evaluates: the same number, and a word where odd."""

import copy
import json

import pytest
from odd_kinds import CLEAR, REFUSED
from world import found, judged, outlines, truth


def world(change, masks=None):
    data, entries = {**truth(masks), 'info': {}}, found(masks)
    change(data, entries)
    return data, entries


@pytest.mark.parametrize('name', CLEAR)
def test_what_is_clear_scores_as_pycocotools(folder, name):
    change, notice = CLEAR[name]
    data, entries = world(change)
    scores, complaint = folder.scores(data, entries)
    expected = judged(data, entries)
    assert [scores[key] for key in ('AP', 'AP50', 'ARs')] == pytest.approx(
        [expected[0], expected[1], expected[9]], abs=1e-9
    )
    if notice is None:
        assert complaint == ''
    else:
        assert notice in complaint


@pytest.mark.parametrize('name', REFUSED)
def test_what_is_not_clear_is_one_sentence(folder, name):
    change, expected = REFUSED[name]
    data, entries = world(change)
    gt, dt = folder.write('gt.json', data), folder.write('dt.json', entries)
    assert expected in folder.sentence('evaluate', gt, dt)


@pytest.mark.parametrize(
    'name', [name for name in CLEAR if not name.startswith(('no si', 'no fi'))]
)
def test_other_commands_read_what_is_clear(folder, name, monkeypatch):
    monkeypatch.chdir(folder.path)
    data, entries = world(CLEAR[name][0])
    folder.write('gt.json', data)
    folder.write('dt.json', entries)
    for words in (
        'stats gt.json --json stats.json',
        'split gt.json --out-dir parts --val 0.5',
        'convert to-yolo gt.json yolo --split val',
    ):
        if name == 'empty box' and words.startswith(('stats', 'split')):
            continue  # no shape: an error that sends to verify
        code, _, complaint = folder.run(*words.split())
        assert code == 0, complaint
    ids = [
        image['id']
        for part in ('train', 'val')
        for image in _parts(folder.path, part)
    ]
    assert len(ids) == len(set(ids))


def _parts(path, part):
    file = path / 'parts' / f'{part}.json'
    return json.loads(file.read_text())['images'] if file.exists() else ()


@pytest.mark.parametrize('name', ['image twice', 'no names', 'iscrowd 2'])
def test_masks_of_such_files_score_as_pycocotools(folder, name):
    data, entries = world(CLEAR[name][0], outlines)
    for entry in entries:
        entry['segmentation'] = None
    whole = found(outlines)
    scores, _ = folder.scores(data, _coded(whole), '--iou-type', 'segm')
    expected = judged(data, _coded(whole), 'segm')[0]
    assert scores['AP'] == pytest.approx(expected, abs=1e-9)


def _coded(entries):
    from world import compressed

    coded = copy.deepcopy(entries)
    for entry in coded:
        entry['segmentation'] = compressed(*entry['bbox'])
    return coded
