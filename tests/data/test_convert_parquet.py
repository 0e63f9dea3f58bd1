"""Hugging Face parquet to COCO and image files."""

import json

import pytest
from tiny_release import annotations, picture

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.cli.main import main
from mmdet_cppe5.data.convert.parquet import parquet_to_coco

arrow = pytest.importorskip('pyarrow')
parquet = pytest.importorskip('pyarrow.parquet')

FEATURES = {
    'info': {
        'features': {
            'objects': {
                'feature': {
                    'category': {'names': list(CLASSES), '_type': 'ClassLabel'}
                },
                '_type': 'Sequence',
            }
        }
    }
}


def rows(dataset):
    """Return a data set's images as rows of the Hub's form."""
    result = []
    for image in dataset['images']:
        mine = [
            a for a in dataset['annotations'] if a['image_id'] == image['id']
        ]
        result.append(
            {
                'image_id': image['id'],
                'image': {'bytes': picture(image['id']), 'path': None},
                'width': image['width'],
                'height': image['height'],
                'objects': [
                    {
                        'id': a['id'],
                        'area': a['area'],
                        'bbox': [float(value) for value in a['bbox']],
                        'category': a['category_id'] - 1,
                    }
                    for a in mine
                ],
            }
        )
    return result


@pytest.fixture
def write(tmp_path):
    def run(records, name='0.parquet', names=True, columns=False):
        if columns:
            for record in records:
                items = record['objects']
                record['objects'] = {
                    key: [item[key] for item in items] for key in items[0]
                }
        table = arrow.Table.from_pylist(records)
        if names:
            text = json.dumps(FEATURES)
            table = table.replace_schema_metadata({'huggingface': text})
        parquet.write_table(table, tmp_path / name)
        return tmp_path / name

    return run


@pytest.mark.parametrize('columns', [False, True])
def test_the_official_form_comes_back(write, tmp_path, columns):
    dataset = annotations(1, 40)
    path = write(rows(dataset), columns=columns)
    found = parquet_to_coco([path], tmp_path / 'images')
    assert found.content == dataset
    assert found.notes == []
    for image_id in (1, 17, 40):
        data = (tmp_path / f'images/{image_id}.png').read_bytes()
        assert data == picture(image_id)


def test_real_annotations_come_back(write, tmp_path, test_data):
    path = test_data / 'cppe5/annotations/train_excerpt.json'
    dataset = json.loads(path.read_text())
    found = parquet_to_coco([write(rows(dataset))], tmp_path / 'images')
    assert found.content == dataset


def test_several_files(write, tmp_path):
    dataset = annotations(1, 4)
    records = rows(dataset)
    files = [write(records[:3]), write(records[3:], '1.parquet')]
    assert parquet_to_coco(files, tmp_path / 'i').content == dataset
    with pytest.raises(ValueError, match='image_id of its own'):
        parquet_to_coco([files[0], files[0]], tmp_path / 'i')


def test_what_is_dropped_and_why(write, tmp_path):
    records = rows(annotations(1, 4))
    records[0]['image']['bytes'] = b'no image'
    records[1]['objects'][0]['category'] = 5
    records[2]['objects'][0]['bbox'] = [1.0]
    found = parquet_to_coco([write(records)], tmp_path / 'i')
    assert [i['id'] for i in found.content['images']] == [2, 3, 4]
    assert [a['image_id'] for a in found.content['annotations']] == [4]
    assert [(note.why, note.where) for note in found.notes] == [
        ('image without image data', '0.parquet, row 0'),
        ('category outside 0..4', '0.parquet, row 1, object 0'),
        ('box without four numbers', '0.parquet, row 2, object 0'),
    ]


def test_a_missing_size_is_read_from_the_image(write, tmp_path):
    records = rows(annotations(1, 1))
    del records[0]['width'], records[0]['height']
    (image,) = parquet_to_coco([write(records)], tmp_path).content['images']
    assert (image['width'], image['height']) == (40, 30)


def test_class_names_must_be_known(write, tmp_path):
    path = write(rows(annotations(1, 1)), names=False)
    with pytest.raises(ValueError, match='name them with --classes'):
        parquet_to_coco([path], tmp_path / 'i')
    found = parquet_to_coco([path], tmp_path / 'i', CLASSES)
    assert len(found.content['categories']) == 5


def test_what_is_not_such_a_file(write, tmp_path):
    (tmp_path / 'x.parquet').write_bytes(b'PAR1 but no more')
    with pytest.raises(ValueError, match='Expected a parquet file'):
        parquet_to_coco([tmp_path / 'x.parquet'], tmp_path / 'i')
    with pytest.raises(ValueError, match='lacks'):
        parquet_to_coco([write([{'a': 1}])], tmp_path / 'i')


def test_command(write, tmp_path, capsys):
    path = write(rows(annotations(1, 3)))
    code = main(
        ['convert', 'from-parquet', str(path), '--images',
         str(tmp_path / 'images'), '--out', str(tmp_path / 'out.json')]
    )  # fmt: skip
    assert code == 0
    out = capsys.readouterr().out
    assert '3 images, 3 boxes, 5 classes' in out
    assert 'nothing dropped, nothing changed' in out
    assert json.loads((tmp_path / 'out.json').read_text()) == annotations(1, 3)
