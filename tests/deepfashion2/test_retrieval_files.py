"""Retrieval from files, against figures measured on the real ones."""

import json

import numpy as np
import pytest

from mmdet_cppe5.deepfashion2.retrieval_accuracy import evaluate_retrieval
from mmdet_cppe5.deepfashion2.retrieval_files import (
    load_gallery,
    load_queries,
    load_retrievals,
    retrieval_entries,
)
from mmdet_cppe5.deepfashion2.retrieval_scores import (
    evaluate_retrieval_files,
    per_query,
    summarize,
)

QUERY = {
    'query_image_id': 1,
    'bbox': [10, 10, 30, 40],
    'cls': 8,
    'style': 1,
    'pair_id': 4,
}
ITEM = {
    'gallery_image_id': 9,
    'bbox': [0, 0, 20, 20],
    'style': 1,
    'pair_id': 4,
}
ENTRY = {
    'query_image_id': 1,
    'query_bbox': [10, 10, 30, 40],
    'query_cls': 8,
    'query_score': 0.75,
    'gallery_image_id': [7, 9],
    'gallery_bbox': [[0, 0, 20, 20], [0, 0, 20, 20]],
}


@pytest.fixture(scope='module')
def real(test_data):
    """The real query items, and the parsed query and gallery files."""
    folder = test_data / 'deepfashion2'
    return (
        load_queries(folder / 'query_gt.json'),
        load_gallery(folder / 'gallery_gt.json'),
        json.loads((folder / 'query_gt.json').read_text()),
        json.loads((folder / 'gallery_gt.json').read_text()),
    )


def oracle(queries, gallery, rank):
    """Submit every query's own box and a right item at a 1-based rank."""
    right = {}
    for item in reversed(gallery):
        right[item['pair_id'], item['style']] = item
    for query in queries:
        if query['style'] > 0:
            item = right[query['pair_id'], query['style']]
            before = rank - 1
            yield {
                'query_image_id': query['query_image_id'],
                'query_bbox': query['bbox'],
                'query_cls': query['cls'],
                'query_score': 0.9,
                'gallery_image_id': [0] * before + [item['gallery_image_id']],
                'gallery_bbox': [[0, 0, 1, 1]] * before + [item['bbox']],
            }


@pytest.mark.parametrize('rank', [1, 5, 6, 20])
def test_oracle_figures(real, tmp_path, rank):
    items, gallery, raw_queries, raw_gallery = real
    file = tmp_path / 'results.json'
    file.write_text(json.dumps(list(oracle(raw_queries, raw_gallery, rank))))
    result = evaluate_retrieval(items, load_retrievals(file), gallery)
    # Two queries have the box of an earlier item of style 0.
    expected = [12548 if rank <= k else 0 for k in (1, 5, 10, 15, 20)]
    assert [result.hits(k) for k in (1, 5, 10, 15, 20)] == expected
    summary = summarize(result)
    assert summary['queries'] == 12550
    assert summary['missed'] == 2
    assert summary['top-20'] == 12548 / 12550
    assert summary['without_counterpart'] == 0


@pytest.mark.parametrize(
    ('name', 'with_classes', 'hits', 'detections'),
    [
        ('', True, [0, 0, 0, 0, 0], [-1, -1]),
        ('', False, [1, 2, 2, 2, 2], [4, 0]),
        ('_jan2019', False, [2, 2, 2, 2, 2], [4, 0]),
    ],
)
def test_published_examples(
    test_data, real, name, with_classes, hits, detections
):
    file = test_data / 'deepfashion2' / f'example_retrieval_results{name}.json'
    found = load_retrievals(file, with_classes)
    assert found.gallery_images.shape == (5, 20)
    result = evaluate_retrieval(real[0], found, real[1])
    assert [result.hits(k) for k in (1, 5, 10, 15, 20)] == hits
    # Both queries of image 1 come first; no other image has results.
    assert result.detections[:2].tolist() == detections
    assert result.undetected.sum() == 12548


def write(tmp_path, **contents):
    files = {'queries': [QUERY], 'gallery': [ITEM], 'results': [ENTRY]}
    paths = {}
    for name, content in {**files, **contents}.items():
        paths[name] = tmp_path / f'{name}.json'
        paths[name].write_text(json.dumps(content))
    return paths


def test_worked_example(tmp_path):
    short = {**ENTRY, 'query_score': 0.5, 'gallery_image_id': [],
             'gallery_bbox': []}  # fmt: skip
    paths = write(tmp_path, results=[short, ENTRY])
    queries, result, notices = evaluate_retrieval_files(**paths)
    assert notices == []
    assert per_query(queries, result) == [
        {
            'query': 0,
            'query_image_id': 1,
            'cls': 8,
            'pair_id': 4,
            'style': 1,
            'detection': 1,
            'rank': 2,
            'counterparts': 1,
        }
    ]
    assert summarize(result)['top-1'] == 0
    assert summarize(result)['top-5'] == 1


def test_per_query_of_a_missed_query(tmp_path):
    paths = write(tmp_path, results=[{**ENTRY, 'query_cls': 1}])
    (row,) = per_query(*evaluate_retrieval_files(**paths)[:2])
    assert (row['detection'], row['rank']) == (None, None)


def test_entries_after_the_twentieth_do_not_count(tmp_path):
    right, wrong = [[0, 0, 20, 20]], [[0, 0, 20, 20]]
    longer = {
        **ENTRY,
        'gallery_image_id': [7] * 20 + [9],
        'gallery_bbox': wrong * 20 + right,
    }
    paths = write(tmp_path, results=[longer, {**ENTRY, 'query_score': 0.1}])
    queries, result, notices = evaluate_retrieval_files(**paths)
    assert notices == [
        '1 of the 2 lists have more than 20 entries; the first 20 count.'
    ]
    (row,) = per_query(queries, result)
    assert (row['detection'], row['rank']) == (0, None)


def test_written_entries_are_read_back(tmp_path):
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 50, (3, 5, 4)).astype(float)
    corners[..., 2:] += corners[..., :2]
    entries = [
        {
            'query_image_id': row + 1,
            'query_bbox': corners[row, 0].tolist(),
            'query_cls': row + 3,
            'query_score': 0.5 + row / 8,
            'gallery_image_id': [4, 0, 6, 9][: 4 - row],
            'gallery_bbox': corners[row, 1 : 5 - row].tolist(),
        }
        for row in range(3)
    ]
    path = write(tmp_path, results=entries)['results']
    assert retrieval_entries(load_retrievals(path)) == entries


BAD_FILES = {
    'results are xywh': (
        {'results': [ENTRY, {**ENTRY, 'query_bbox': [50, 60, 20, 30]}]},
        r"'query_bbox' of entry number 1 of .*results\.json to be "
        r'\[x1, y1, x2, y2\].* 1 of the 2 boxes do; are they \[x, y, width',
    ),
    'retrieved boxes are xywh': (
        {'results': [{**ENTRY, 'gallery_bbox': [[0, 0, 9, 9], [9, 9, 3, 3]]}]},
        "retrieved item id '1 of entry 0' of .* width, height",
    ),
    'queries are xywh': (
        {'queries': [{**QUERY, 'bbox': [50, 60, 20, 30]}]},
        r"'bbox' of query item number 0 of .*queries\.json.*width, height",
    ),
    'lists of different length': (
        {'results': [{**ENTRY, 'gallery_image_id': [7]}]},
        'entry number 0 of .* equal lengths, but got 1 ids and 2 boxes',
    ),
    'no list': (
        {'results': [{**ENTRY, 'gallery_image_id': 7}]},
        'to be lists, but got 7 and',
    ),
    'no class': (
        {'results': [{k: v for k, v in ENTRY.items() if k != 'query_cls'}]},
        "Expected 'query_cls' .* no entry has it; .*with_classes=False",
    ),
    'no score': (
        {'results': [{k: v for k, v in ENTRY.items() if k != 'query_score'}]},
        "Expected a 'query_score' in entry number 0",
    ),
    'fractional id': (
        {'results': [{**ENTRY, 'query_image_id': 1.5}]},
        "'query_image_id' of entry number 0 .* whole number .* got 1.5",
    ),
    'two pairs in one image': (
        {'queries': [QUERY, {**QUERY, 'pair_id': 5}]},
        'one pair_id for each query image .* image 1 has 4 and 5',
    ),
    'no results': ({'results': []}, r'results\.json, but the list is empty'),
    'no gallery': ({'gallery': []}, r'gallery\.json, but the list is empty'),
    'COCO file as queries': (
        {'queries': {'images': []}},
        r'queries\.json, but got a dict',
    ),
}


@pytest.mark.parametrize('name', BAD_FILES)
def test_bad_files_are_explained(tmp_path, name):
    contents, message = BAD_FILES[name]
    with pytest.raises(ValueError, match=message):
        evaluate_retrieval_files(**write(tmp_path, **contents))


def test_ids_that_no_ground_truth_has_match_nothing(tmp_path):
    stranger = {**ENTRY, 'query_image_id': 77}
    paths = write(tmp_path, results=[stranger, ENTRY])
    result = evaluate_retrieval_files(**paths).result
    assert result.detections.tolist() == [1]


@pytest.mark.parametrize(
    ('name', 'changes'),
    [
        ('query', {'query_image_id': 77}),
        ('gallery', {'gallery_image_id': [77, 78]}),
    ],
)
def test_results_of_another_split_are_refused(tmp_path, name, changes):
    paths = write(tmp_path, results=[{**ENTRY, **changes}])
    message = f'{name} image ids .* {name} file .* none of the .* 77'
    with pytest.raises(ValueError, match=message):
        evaluate_retrieval_files(**paths)


def test_empty_file_is_named(tmp_path):
    paths = write(tmp_path)
    paths['results'].write_text('')
    with pytest.raises(ValueError, match=r'results\.json, .* file is empty'):
        evaluate_retrieval_files(**paths)
