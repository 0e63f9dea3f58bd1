"""Annotation files over HTTP, for the data set and the metric alike."""

import functools
import hashlib
import http.server
import json
import threading

import pytest
from builders import annotation, coco_dataset

from mmdet_cppe5.annotation_file import read_annotation_file
from mmdet_cppe5.datasets.cppe5 import CPPE5Dataset
from mmdet_cppe5.metrics.cppe5_metric import CPPE5Metric

CLASSES = ('A', 'B')
BOX = [10, 10, 50, 50]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path):
    """A server of a folder on the loopback: its address and the folder."""
    folder = tmp_path / 'served'
    folder.mkdir()
    data = coco_dataset([annotation(1, 1, BOX), annotation(2, 2, BOX)], (1, 2))
    (folder / 'test.json').write_text(json.dumps(data))
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f'http://127.0.0.1:{running.server_port}', folder
        running.shutdown()


def dataset(path, **options):
    return CPPE5Dataset(
        path, {'classes': CLASSES}, test_mode=True, pipeline=[], **options
    )


@pytest.mark.parametrize('backend_args', [None, {'backend': 'http'}])
def test_data_set_and_metric_read_the_same_remote_file(
    server, backend_args, tmp_path
):
    address, folder = server
    images = {'data_prefix': {'img': f'{address}/images'}}
    remote = dataset(
        f'{address}/test.json', backend_args=backend_args, **images
    )
    assert [info['img_id'] for info in remote] == [1, 2]
    assert remote[0]['img_path'] == f'{address}/images/1.png'
    metric = CPPE5Metric(
        f'{address}/test.json',
        backend_args=backend_args,
        outfile_prefix=str(tmp_path / 'run'),
    )
    metric.dataset_meta = remote.metainfo
    here = CPPE5Metric(str(folder / 'test.json'))
    here.dataset_meta = remote.metainfo
    for each in (metric, here):
        assert each.class_names == CLASSES
        assert each._truth.boxes.tolist() == [BOX, BOX]
    metric.score([])
    written = json.loads((tmp_path / 'run.scores.json').read_text())
    # The address as it was given, and what was read there.
    digest = hashlib.sha256((folder / 'test.json').read_bytes()).hexdigest()
    assert written['inputs']['ground_truth'] == {
        'path': f'{address}/test.json',
        'sha256': digest,
    }


def test_a_missing_remote_file_is_named(server):
    address, _ = server
    with pytest.raises(OSError, match=f'{address}/none.json.*404'):
        read_annotation_file(f'{address}/none.json')


def test_a_remote_file_of_another_kind_is_named(server):
    address, folder = server
    (folder / 'bad.json').write_text('[1, 2')
    with pytest.raises(ValueError, match=f'{address}/bad.json, but it is not'):
        read_annotation_file(f'{address}/bad.json')


def test_a_store_is_asked_through_its_backend():
    """`s3://` stays as it is; MMEngine says what its backend needs."""
    with pytest.raises(ImportError, match='petrel_client'):
        read_annotation_file('s3://bucket/test.json')
