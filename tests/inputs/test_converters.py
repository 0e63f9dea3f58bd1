"""XML and label files as other systems write them."""

import json

import pytest
from world import truth

OBJECT = (
    '<object><name>{name}</name><bndbox><xmin>{x}</xmin><ymin>101</ymin>'
    '<xmax>200</xmax><ymax>300</ymax></bndbox></object>'
)


def xml(name='Mask', x=101, head='', count=1):
    return (
        f'{head}<annotation><filename>a.jpg</filename><size><width>640</width>'
        '<height>480</height><depth>3</depth></size>'
        f'{OBJECT.format(name=name, x=x) * count}</annotation>'
    )


def convert(folder, *options):
    out = folder.path / 'out.json'
    words = ['convert', 'from-voc', folder.path / 'xml', '--out', out]
    code, text, complaint = folder.run(*words, *options)
    assert code == 0, complaint
    return json.loads(out.read_text()), text


@pytest.mark.parametrize(
    ('encoding', 'name'),
    [
        ('GBK', '口罩'),
        ('gb18030', '口罩'),
        ('Shift_JIS', 'マスク'),
        ('EUC-KR', '마스크'),
        ('Big5', '口罩'),
        ('windows-1251', 'маска'),
        ('iso-8859-1', 'Schürze'),
        ('utf-8', '口罩'),
        ('utf-16', '口罩'),
        ('utf-8-sig', '口罩'),
    ],
)
def test_declared_encodings_are_read(folder, encoding, name):
    (folder.path / 'xml').mkdir()
    declared = encoding.removesuffix('-sig')
    text = xml(name, head=f'<?xml version="1.0" encoding="{declared}"?>')
    (folder.path / 'xml/a.xml').write_bytes(text.encode(encoding))
    data, _ = convert(folder, '--classes', name)
    assert data['annotations'][0]['bbox'] == [100, 100, 100, 200]
    assert data['categories'][0]['name'] == name


@pytest.mark.parametrize(
    ('head', 'encoding', 'words'),
    [
        ('<?xml version="1.0" encoding="klingon"?>', 'ascii', "'klingon'"),
        ('<?xml version="1.0" encoding="hex"?>', 'ascii', "'hex'"),
        ('<?xml version="1.0" encoding="utf-8"?>', 'gbk', 'in utf-8'),
        ('', 'gbk', 'in utf-8, as XML is where it declares none'),
    ],
)
def test_other_encodings_are_one_sentence(folder, head, encoding, words):
    (folder.path / 'xml').mkdir()
    text = xml('口罩' if encoding == 'gbk' else 'Mask', head=head)
    (folder.path / 'xml/a.xml').write_bytes(text.encode(encoding))
    said = folder.sentence(
        'convert', 'from-voc', folder.path / 'xml', '--out', 'o.json'
    )
    assert 'a.xml' in said
    assert words in said


def test_hidden_files_are_no_data(folder):
    folder.write('xml/a.xml', xml())
    for name in ('._a.xml', '.DS_Store', 'Thumbs.db', '._b.xml'):
        (folder.path / 'xml' / name).write_bytes(b'\0\5\x16\7Mac OS X')
    data, _ = convert(folder)
    assert len(data['images']) == 1


def test_hidden_files_beside_yolo_labels_are_no_data(folder):
    from PIL import Image

    (folder.path / 'images').mkdir()
    Image.new('RGB', (64, 48)).save(folder.path / 'images/a.png')
    folder.write('labels/a.txt', '\ufeff0 0.5 0.5 0.25 0.25\n')
    for name in ('images/._a.png', 'images/.b.png', 'labels/._a.txt'):
        (folder.path / name).write_bytes(b'\0\5\x16\7Mac OS X')
    yaml = folder.write('data.yaml', 'val: images\nnames: [Mask]\n')
    out = folder.path / 'out.json'
    code, text, complaint = folder.run(
        'convert', 'from-yolo', yaml, '--split', 'val', '--out', out
    )
    assert code == 0, complaint
    data = json.loads(out.read_text())
    assert [image['file_name'] for image in data['images']] == ['a.png']
    assert data['annotations'][0]['bbox'] == [24, 18, 16, 12]
    assert 'nothing dropped' in text


@pytest.mark.parametrize(
    ('line', 'reason'),
    [
        ('mask 0.5 0.5 0.2 0.2', 'class is a text, not its number'),
        ('0 0.5 0.5 0.2 0.2 0.9', 'six numbers: a prediction'),
        ('7 0.5 0.5 0.2 0.2', 'class index outside 0..0'),
        ('0 100 100 20 20', 'nothing of the box lies inside'),
    ],
)
def test_labels_that_leave_nothing_name_the_reason(folder, line, reason):
    from PIL import Image

    (folder.path / 'images').mkdir()
    Image.new('RGB', (64, 48)).save(folder.path / 'images/a.png')
    folder.write('labels/a.txt', f'{line}\n' * 3)
    yaml = folder.write('data.yaml', 'val: images\nnames: [Mask]\n')
    out = folder.path / 'out.json'
    words = ['convert', 'from-yolo', yaml, '--split', 'val', '--out', out]
    said = folder.sentence(*words)
    assert 'but none of 3 is' in said
    assert reason in said
    assert not out.exists()
    assert folder.run(*words, '--allow-empty')[0] == 0


def test_nothing_left_names_the_nearest_classes(folder):
    folder.write('xml/a.xml', xml('mask', count=3))
    folder.write('xml/b.xml', xml('gloves'))
    out = folder.path / 'out.json'
    said = folder.sentence(
        'convert', 'from-voc', folder.path / 'xml', '--out', out
    )
    assert "class 'mask' is not asked for (nearest: 'Mask')" in said
    assert '3 of 4 dropped' in said
    assert not out.exists()


@pytest.mark.parametrize('lost', [2, 3])
def test_more_lost_than_half_is_no_success(folder, lost):
    for number in range(4):
        name = 'mask' if number < lost else 'Mask'
        folder.write(f'xml/{number}.xml', xml(name))
    out = folder.path / 'out.json'
    words = ['convert', 'from-voc', folder.path / 'xml', '--out', out]
    if lost == 2:
        assert folder.run(*words)[0] == 0
    else:
        said = folder.sentence(*words)
        assert 'at least 50% of the objects' in said
        assert 'only 1 of 4' in said


def test_swapped_corners_and_missing_sizes_are_named(folder):
    folder.write('xml/a.xml', xml(x=500))
    said = folder.sentence(
        'convert', 'from-voc', folder.path / 'xml', '--out', 'o.json'
    )
    assert 'corners swapped' in said
    text = xml().replace('<width>640</width>', '')
    folder.write('xml/a.xml', text)
    said = folder.sentence(
        'convert', 'from-voc', folder.path / 'xml', '--out', 'o.json'
    )
    assert 'Expected the image size in' in said


def test_a_split_without_objects_is_no_success(folder):

    data = {**truth(), 'annotations': []}
    gt = folder.write('gt.json', data)
    words = ['split', gt, '--out-dir', folder.path / 'parts', '--val', '0.5']
    assert 'Expected annotated objects' in folder.sentence(*words)
    assert not (folder.path / 'parts').exists()
    assert folder.run(*words, '--allow-empty')[0] == 0


def test_a_file_name_too_long_for_any_disk_is_named(folder):
    data = truth()
    data['images'][1]['file_name'] = 'x' * 5000
    gt = folder.write('gt.json', data)
    out = folder.path / 'yolo'
    said = folder.sentence('convert', 'to-yolo', gt, out, '--split', 'val')
    assert 'at most 230 bytes' in said
    assert 'of image id 2' in said
    assert not out.exists()
