"""DeepFashion2's subcommands from the raw files to the figures."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / 'deepfashion2'))

from deepfashion2_builders import raw_item, write_raw

from mmdet_cppe5.cli.main import main


@pytest.fixture
def converted(tmp_path):
    """A skirt in a user's image 1 and twice in a shop's image 2."""
    box = (10, 20, 40, 60)
    user = {'item1': raw_item(9, box), 'source': 'user', 'pair_id': 3}
    shop = {
        'item1': raw_item(9, box, v=1),
        'item2': raw_item(8, style=0),
        'source': 'shop',
        'pair_id': 3,
    }
    folders = write_raw(tmp_path / 'raw', {1: user, 2: shop})
    names = ('out', 'visible-out', 'queries-out', 'gallery-out')
    files = {name: str(tmp_path / f'{name}.json') for name in names}
    options = [part for n in names for part in (f'--{n}', files[n])]
    arguments = [*map(str, folders), *options, '--workers', '1']
    assert main(['deepfashion2-convert', *arguments]) == 0
    return files


def write(tmp_path, content):
    file = tmp_path / 'results.json'
    file.write_text(json.dumps(content))
    return str(file)


def test_convert_says_what_it_wrote(converted, capsys, tmp_path):
    counts = {
        name: len(json.loads(Path(file).read_text()))
        for name, file in converted.items()
    }
    assert (counts['queries-out'], counts['gallery-out']) == (1, 2)
    visible = json.loads(Path(converted['visible-out']).read_text())
    numbers = [a['num_keypoints'] for a in visible['annotations']]
    assert numbers == [8, 0, 14]
    code = main(
        ['deepfashion2-convert', str(tmp_path), str(tmp_path), '--out', 'x']
    )
    assert code == 2
    assert 'named by the number of their image' in capsys.readouterr().err


def test_convert_counts_what_no_score_will_see(capsys, tmp_path):
    flat = {'item1': raw_item(9, (10, 20, 10, 60), v=0)}
    folders = write_raw(tmp_path / 'raw', {1: flat, 2: {}})
    out = str(tmp_path / 'out.json')
    arguments = [*map(str, folders), '--out', out, '--workers', '1']
    assert main(['deepfashion2-convert', *arguments]) == 0
    assert capsys.readouterr().out == (
        f'Wrote {out}: 2 images, 1 of them without items; 1 items, 1 of them '
        'without landmarks and 1 with a box of no width or height\n'
    )


def test_evaluate_tells_the_task_from_the_results(converted, capsys, tmp_path):
    truth = json.loads(Path(converted['out']).read_text())
    fields = ('image_id', 'category_id', 'bbox', 'keypoints', 'segmentation')
    entries = [
        {**{key: item[key] for key in fields}, 'score': 0.9}
        for item in truth['annotations']
    ]
    for drop, task in (
        ((), 'keypoints'),
        (('keypoints',), 'segm'),
        (('keypoints', 'segmentation'), 'bbox'),
    ):
        kept = [
            {key: value for key, value in entry.items() if key not in drop}
            for entry in entries
        ]
        results, document = write(tmp_path, kept), tmp_path / 'document.json'
        code = main(
            [
                'deepfashion2-evaluate', converted['out'], results,
                '--no-ci', '--subset', 'scale', 'viewpoint',
                '--json', str(document),
            ]
        )  # fmt: skip
        assert code == 0
        printed = capsys.readouterr().out
        assert f'results.json, {task}: 3 detections against 3' in printed
        assert 'scale: moderate' in printed
        written = json.loads(document.read_text())
        assert written['settings']['task'] == task
        assert written['overall']['AP'] == pytest.approx(100)
        assert written['subsets']['viewpoint']['frontal']['items'] == 3
        assert written['inputs']['results']['detections'] == 3


def test_evaluate_visible_landmarks_only(converted, tmp_path):
    truth = json.loads(Path(converted['out']).read_text())
    entries = [
        {
            'image_id': item['image_id'],
            'category_id': item['category_id'],
            'keypoints': item['keypoints'],
            'score': 0.9,
        }
        for item in truth['annotations']
        if item['image_id'] == 1 or item['category_id'] == 8
    ]
    results, document = write(tmp_path, entries), tmp_path / 'document.json'
    scores = []
    for extra in ([], ['--visible-only']):
        arguments = [converted['out'], results, *extra, '--no-ci', '--no-tide']
        code = main(
            ['deepfashion2-evaluate', *arguments, '--json', str(document)]
        )
        assert code == 0
        scores.append(json.loads(document.read_text())['classes']['skirt'])
    # One of two skirts is found; the other has occluded landmarks only.
    assert scores[0]['AP'] == pytest.approx(5100 / 101)
    assert scores[1]['AP'] == pytest.approx(100)


def test_retrieval(converted, capsys, tmp_path):
    entry = {
        'query_image_id': 1,
        'query_bbox': [10, 20, 40, 60],
        'query_score': 0.5,
        'gallery_image_id': [1, 2],
        'gallery_bbox': [[10, 20, 40, 60], [10, 20, 40, 60]],
    }
    files = [converted['queries-out'], converted['gallery-out']]
    results, document = write(tmp_path, [entry]), tmp_path / 'document.json'
    assert main(['deepfashion2-retrieval', *files, results]) == 2
    assert '--no-classes' in capsys.readouterr().err
    arguments = [*files, results, '--no-classes', '--json', str(document)]
    assert main(['deepfashion2-retrieval', *arguments]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == [f'top-{k}' for k in (1, 5, 10, 15, 20)]
    assert printed[2].split() == ['0.00', *['100.00'] * 4]
    written = json.loads(document.read_text())
    assert written['overall']['top-5'] == 1
    assert written['queries'][0]['rank'] == 2
