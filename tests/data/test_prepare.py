"""From nothing, or from something broken, to a whole data set."""

import io
import json
import os
from functools import partial

import pytest
from faulty_server import faulty_server
from tiny_release import SPLITS, files, picture, sha256, tar_gz

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.download import RemoteFile
from mmdet_cppe5.data.prepare import prepare
from mmdet_cppe5.data.release import CPPE5, HubCopy, Release

FILES = files()
ARCHIVE = tar_gz(FILES)


def release(*urls, hub=None, data=ARCHIVE):
    remote = RemoteFile('dataset.tar.gz', urls, len(data), sha256(data))
    return Release(remote, SPLITS, hub)


@pytest.fixture
def server():
    with faulty_server(archive=ARCHIVE) as server:
        yield server


@pytest.fixture
def folder(tmp_path):
    return tmp_path / 'data' / 'cppe5'


def get(folder, what, **options):
    said = []
    result = prepare(
        folder, release=what, report=said.append, progress=False,
        retries=2, timeout=5, wait=0.01, **options,
    )  # fmt: skip
    return result, said


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob('*')
        if path.is_file() and path.name != 'manifest.json'
    }


@pytest.mark.parametrize('fault', ['good', 'drops', 'deaf'])
def test_from_nothing(server, folder, fault):
    result, _ = get(folder, release(f'{server.url}/{fault}/archive'))
    assert content(folder) == FILES
    assert result.images == SPLITS
    assert result.boxes == {'train': 3, 'test': 2}
    assert sorted(os.listdir(folder)) == [
        'annotations',
        'images',
        'manifest.json',
    ]


def test_a_second_run_does_nothing(server, folder):
    what = release(f'{server.url}/good/archive')
    get(folder, what)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob('*')}
    result, said = get(folder, what)
    assert (result.done, said) == ([], [])
    assert len(server.requests) == 1
    assert {p: p.stat().st_mtime_ns for p in folder.rglob('*')} == before


def test_only_what_is_broken_is_repaired(server, folder):
    what = release(f'{server.url}/good/archive')
    get(folder, what)
    (folder / 'images/2.png').unlink()
    (folder / 'images/3.png').write_bytes(FILES['images/3.png'][:-1])
    (folder / 'annotations/mine.json').write_text('{}')
    kept = (folder / 'images/1.png').stat().st_mtime_ns
    result, said = get(folder, what)
    assert [line.split('/')[-1] for line in result.done] == [
        '2.png.',
        '3.png.',
    ]
    assert len(said) == 2
    assert content(folder) == {**FILES, 'annotations/mine.json': b'{}'}
    assert (folder / 'images/1.png').stat().st_mtime_ns == kept


def test_a_changed_annotation_file_is_kept_aside(server, folder):
    what = release(f'{server.url}/good/archive')
    get(folder, what)
    (folder / 'annotations/train.json').write_text('{"mine": 1}')
    get(folder, what)
    found = content(folder)
    assert found.pop('annotations/train.json.bak') == b'{"mine": 1}'
    assert found == FILES


def test_a_broken_manifest_is_made_again(server, folder):
    what = release(f'{server.url}/good/archive')
    get(folder, what)
    (folder / 'manifest.json').write_text('[]')
    get(folder, what)
    assert content(folder) == FILES
    manifest = json.loads((folder / 'manifest.json').read_text())
    assert manifest['files'] == {k: sha256(v) for k, v in FILES.items()}


def test_data_from_elsewhere_that_is_whole_is_left_alone(folder):
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    result, _ = get(folder, release())
    assert result.done == []
    (folder / 'images/5.png').unlink()
    with pytest.raises(ConnectionError, match='no source has it'):
        get(folder, release())


def test_the_next_source_is_used(server, folder):
    url = server.url
    what = release(f'{url}/gone/archive', f'{url}/wrong/archive',
                   f'{url}/good/archive')  # fmt: skip
    _, said = get(folder, what)
    assert content(folder) == FILES
    assert any('HTTP 404' in line for line in said)
    assert any('sent another file' in line for line in said)


def test_an_archive_at_hand(tmp_path, folder):
    folder.mkdir(parents=True)
    path = folder / 'dataset.tar.gz'
    path.write_bytes(ARCHIVE)
    get(folder, release(), archive=path)
    assert content(folder) == {**FILES, 'dataset.tar.gz': ARCHIVE}
    with pytest.raises(FileNotFoundError, match='Expected the archive'):
        get(tmp_path / 'new', release(), archive=tmp_path / 'none')


def test_another_archive_needs_to_be_accepted(tmp_path, folder):
    changed = {**FILES, 'images/1.png': picture(77)}
    path = tmp_path / 'other.tar.gz'
    path.write_bytes(tar_gz(changed))
    with pytest.raises(ValueError, match='--accept-other-archive'):
        get(folder, release(), archive=path)
    get(folder, release(), archive=path, other_archive=True)
    assert content(folder) == changed


def changed_train(**fields):
    dataset = json.loads(FILES['annotations/train.json'])
    dataset.update(fields)
    return json.dumps(dataset).encode()


@pytest.mark.parametrize(
    ('name', 'data', 'text'),
    [
        ('images/4.png', None, r'4\.png is missing'),
        ('images/4.png', b'<html>', r'4\.png is not an image'),
        ('annotations/test.json', None, 'there is no such file'),
        ('annotations/test.json', b'{', 'not valid JSON'),
        ('annotations/test.json', b'[]', 'Expected a COCO annotation file'),
        ('annotations/train.json', changed_train(images=[]), 'got 0'),
        ('annotations/train.json', changed_train(annotations=[]), 'boxes'),
        ('annotations/train.json', changed_train(categories=[]), 'classes'),
    ],
)
def test_contents_are_checked_before_anything_moves(
    tmp_path, folder, name, data, text
):
    changed = {**FILES, name: data}
    if data is None:
        del changed[name]
    path = tmp_path / 'other.tar.gz'
    path.write_bytes(tar_gz(changed))
    with pytest.raises(ValueError, match=text):
        get(folder, release(), archive=path, other_archive=True)
    assert content(folder) == {}
    assert os.listdir(folder) == []


def test_what_a_failed_repair_leaves_is_what_was_there(server, folder):
    get(folder, release(f'{server.url}/good/archive'))
    (folder / 'images/1.png').write_bytes(b'')
    with pytest.raises(ConnectionError):
        get(folder, release(f'{server.url}/gone/archive'))
    assert content(folder) == {**FILES, 'images/1.png': b''}


def hub_bodies(oid_of=sha256):
    """Return the bodies of a Hub with the same data as parquet."""
    arrow = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    bodies = {}
    for split in SPLITS:
        dataset = json.loads(FILES[f'annotations/{split}.json'])
        rows = []
        for image in dataset['images']:
            mine = [
                a for a in dataset['annotations']
                if a['image_id'] == image['id']
            ]  # fmt: skip
            rows.append(
                {
                    'image_id': image['id'],
                    'image': {
                        'bytes': FILES[f'images/{image["id"]}.png'],
                        'path': None,
                    },
                    'width': image['width'],
                    'height': image['height'],
                    'objects': {
                        'id': [a['id'] for a in mine],
                        'area': [a['area'] for a in mine],
                        'bbox': [[float(v) for v in a['bbox']] for a in mine],
                        'category': [a['category_id'] - 1 for a in mine],
                    },
                }
            )
        stream = io.BytesIO()
        table = arrow.Table.from_pylist(rows)
        parquet.write_table(table, stream)
        data = stream.getvalue()
        bodies[f'default/{split}/0000.parquet'] = data
        entry = {
            'type': 'file',
            'path': f'default/{split}/0000.parquet',
            'size': len(data),
            'lfs': {'oid': oid_of(data)},
        }
        bodies[f'index-{split}'] = json.dumps([entry]).encode()
    return bodies


def test_the_hub_copy_gives_the_same_data_set(folder):
    with faulty_server(archive=b'', **hub_bodies()) as server:
        url = server.url
        hub = HubCopy(url + '/good/index-{split}', url + '/drops/{path}')
        _, said = get(folder, release(f'{url}/gone/archive', hub=hub))
    found = content(folder)
    for split in SPLITS:
        name = f'annotations/{split}.json'
        assert json.loads(found.pop(name)) == json.loads(FILES[name])
    assert found == {k: v for k, v in FILES.items() if 'images' in k}
    assert any('Hub copy' in line for line in said)
    manifest = json.loads((folder / 'manifest.json').read_text())
    assert 'parquet' in manifest['source']


def test_a_hub_copy_with_wrong_bytes_is_refused(folder):
    bodies = hub_bodies(oid_of=lambda data: '0' * 64)
    with faulty_server(archive=b'', **bodies) as server:
        url = server.url
        hub = HubCopy(url + '/good/index-{split}', url + '/good/{path}')
        with pytest.raises(ConnectionError, match='Nor did the Hugging Face'):
            get(folder, release(f'{url}/gone/archive', hub=hub))
    assert content(folder) == {}


def test_the_published_facts():
    assert CPPE5.archive.size == 238_482_705
    assert len(CPPE5.archive.sha256) == 64
    assert len(CPPE5.archive.md5) == 32
    assert CPPE5.splits == {'train': 1000, 'test': 29}


def test_command_refuses_a_wrong_archive(tmp_path, capsys):
    path = tmp_path / 'x.tar.gz'
    path.write_bytes(ARCHIVE)
    folder = tmp_path / 'data'
    code = main(['prepare', '--folder', str(folder), '--archive', str(path)])
    assert code == 2
    assert 'not 238,482,705' in capsys.readouterr().err


def test_command_says_what_is_there(tmp_path, capsys, monkeypatch):
    path = tmp_path / 'x.tar.gz'
    path.write_bytes(ARCHIVE)
    monkeypatch.setattr(
        'mmdet_cppe5.cli.prepare.prepare', partial(prepare, release=release())
    )
    arguments = ['prepare', '--folder', str(tmp_path), '--archive', str(path)]
    assert main(arguments) == 0
    assert 'train: 3 images, 3 boxes' in capsys.readouterr().out
    assert main(arguments) == 0
    assert 'Nothing to do' in capsys.readouterr().out
