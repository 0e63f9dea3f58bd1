import copy
import json

import pytest
from builders import speed_record as record

from mmdet_cppe5.benchmark.compare import (
    differences,
    ranking_text,
    read_record,
)


def test_the_faster_stands_first():
    text = ranking_text([record('slow', 5.0), record('fast', 50.0)])
    assert text.index('fast') < text.index('slow')


@pytest.mark.parametrize(
    ('field', 'other'),
    [
        ('precision', {'precision': 'fp16'}),
        ('batch size', {'batch_size': 8}),
        ('input size', {'input_size': None}),
        ('images', {'synthetic': 20}),
        ('threads', {'threads': 1}),
        ('loading counted', {'include_loading': True}),
    ],
)
def test_what_was_not_measured_alike_is_not_ranked(field, other):
    pair = [record('a'), record('b', **other)]
    assert list(differences(pair)) == [field]
    with pytest.raises(ValueError, match=f'cannot be ranked.*\n  {field}: '):
        ranking_text(pair)


def test_devices_are_not_ranked_against_each_other():
    other = record('b')
    other['machine'] = {'device_name': 'GPU Y', 'gpu': {'tf32_cudnn': True}}
    with pytest.raises(ValueError, match='device: a CPU X, b GPU Y'):
        ranking_text([record('a'), other])


def test_threads_do_not_matter_beside_a_gpu():
    pair = [record('a'), record('b', threads=64)]
    for each in pair:
        each['machine'] = {'device_name': 'GPU Y', 'gpu': {}}
    assert differences(pair) == {}


def test_allowed_differences_are_noted():
    other = record('b', compile=True)
    other['software'] = {'torch': '2.1.2'}
    text = ranking_text([record('a'), other])
    assert 'note: compile differs: [False, True]' in text
    assert "note: torch version differs: ['2.13.0', '2.1.2']" in text


def test_one_record_is_nothing_to_compare():
    with pytest.raises(ValueError, match='two or more'):
        ranking_text([record()])


def test_another_json_is_refused(tmp_path):
    path = tmp_path / 'results.json'
    path.write_text(json.dumps([{'image_id': 1}]))
    with pytest.raises(ValueError, match='Expected a benchmark record'):
        read_record(path)
    good = copy.deepcopy(record())
    path.write_text(json.dumps(good))
    assert read_record(path) == good
