"""Pascal VOC XML to COCO."""

import json

import pytest
from PIL import Image

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.data.convert.voc import voc_to_coco

CLASSES = ['cat', 'dog']


def item(name='dog', box=(1, 1, 10, 20), extra=''):
    corners = ''.join(
        f'<{tag}>{value}</{tag}>'
        for tag, value in zip(('xmin', 'ymin', 'xmax', 'ymax'), box)
    )
    return (
        f'<object><name>{name}</name>{extra}'
        f'<bndbox>{corners}</bndbox></object>'
    )


def page(*items, size=(100, 50), filename='photo.jpg'):
    return (
        f'<annotation><filename>{filename}</filename><size>'
        f'<width>{size[0]}</width><height>{size[1]}</height>'
        f'<depth>3</depth></size>{"".join(items)}</annotation>'
    )


@pytest.fixture
def convert(tmp_path):
    def run(pages, classes=CLASSES, **options):
        folder = tmp_path / 'xml'
        folder.mkdir(exist_ok=True)
        for stem, text in pages.items():
            data = text if isinstance(text, bytes) else text.encode()
            (folder / f'{stem}.xml').write_bytes(data)
        return voc_to_coco(folder, classes, **options)

    return run


def boxes(found):
    return [a['bbox'] for a in found.content['annotations']]


def test_pixels_count_from_one(convert):
    """Pixels 1..10 by 1..20 are the first ten and twenty."""
    found = convert({'7': page(item(box=(1, 1, 10, 20)))})
    assert boxes(found) == [[0, 0, 10, 20]]
    assert found.content['annotations'][0] == {
        'area': 200,
        'iscrowd': 0,
        'bbox': [0, 0, 10, 20],
        'category_id': 2,
        'ignore': 0,
        'segmentation': [],
        'image_id': 7,
        'id': 1,
    }
    assert found.content['images'] == [
        {'file_name': '7.jpg', 'height': 50, 'width': 100, 'id': 7}
    ]
    assert found.notes == []


def test_the_whole_image_has_its_size(convert):
    assert boxes(convert({'1': page(item(box=(1, 1, 100, 50)))})) == [
        [0, 0, 100, 50]
    ]


def test_pixels_that_count_from_zero(convert):
    """Pixels 0..9 by 0..19 are the first ten and twenty."""
    pages = {'7': page(item(box=(0, 0, 9, 19)))}
    assert boxes(convert(pages, first_pixel=0)) == [[0, 0, 10, 20]]
    # Read by the usual rule, the first row and column fall outside.
    found = convert(pages)
    assert boxes(found) == [[0, 0, 9, 19]]
    assert 'clipped' in found.notes[0].why


@pytest.mark.parametrize(
    ('bad', 'why'),
    [
        (item('bird'), "class 'bird' is not asked for"),
        (item(box=(1, 1, 'x', 4)), 'no bndbox with four numbers'),
        (item(box=(1, 1, 'nan', 4)), 'no bndbox with four numbers'),
        (item(box=(1, 1)), 'no bndbox with four numbers'),
        ('<object><name>dog</name></object>', 'no bndbox'),
        (item(box=(9, 9, 5, 12)), 'corners swapped'),
        (item(box=(200, 1, 300, 9)), 'nothing of the box'),
    ],
)
def test_what_is_dropped_and_why(convert, bad, why):
    found = convert({'3': page(item(), bad)})
    assert len(boxes(found)) == 1
    (note,) = found.notes
    assert (note.kind, note.where) == ('dropped', '3.xml object 2')
    assert why in note.why


def test_difficult_objects_are_marked(convert):
    found = convert({'1': page(item(extra='<difficult>1</difficult>'))})
    assert found.content['annotations'][0]['ignore'] == 1


def test_ids_of_names_that_are_no_numbers(convert):
    found = convert({'b': page(item()), 'a': page()})
    assert [(i['file_name'], i['id']) for i in found.content['images']] == [
        ('a.jpg', 1),
        ('b.jpg', 2),
    ]
    assert found.content['annotations'][0]['image_id'] == 2


def test_image_files_give_suffix_size_and_images_without_boxes(
    convert, tmp_path
):
    (tmp_path / 'pics').mkdir()
    for stem in ('1', '2'):
        Image.new('RGB', (60, 40)).save(tmp_path / f'pics/{stem}.png')
    found = convert({'1': page(item())}, images=tmp_path / 'pics')
    assert [
        (i['file_name'], i['width'], i['height'])
        for i in found.content['images']
    ] == [('1.png', 60, 40), ('2.png', 60, 40)]
    assert 'declared size' in found.notes[0].why


def test_only_the_names_asked_for(convert):
    pages = {'1': page(item()), '2': page(item())}
    assert len(convert(pages, names=['2']).content['images']) == 1
    with pytest.raises(FileNotFoundError, match=r'3\.xml'):
        convert(pages, names=['3'])


BOMB = (
    '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;">]>'
    '<annotation><filename>&y;</filename></annotation>'
)
READER = (
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    '<annotation><filename>&x;</filename></annotation>'
)


@pytest.mark.parametrize(
    'text',
    [BOMB, READER, BOMB.encode('utf-16'), '<!DOCTYPE annotation><a/>'],
)
def test_document_types_and_entities_are_refused(convert, text):
    with pytest.raises(ValueError, match='without a document type'):
        convert({'1': text})


@pytest.mark.parametrize('text', ['', '<a>', 'not xml', '<a>&nbsp;</a>'])
def test_what_is_not_xml(convert, text):
    with pytest.raises(ValueError, match='is not XML'):
        convert({'1': text})


def test_a_size_must_be_somewhere(convert):
    with pytest.raises(ValueError, match='Expected the image size'):
        convert({'1': page(item(), size=(0, 0))})
    with pytest.raises(ValueError, match='Expected the image size'):
        convert({'1': '<annotation/>'})


def test_no_files_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match='Expected Pascal VOC'):
        voc_to_coco(tmp_path, CLASSES)


def test_command(convert, tmp_path, capsys):
    convert({'5': page(item('Mask'), item('hat'))})
    code = main(
        ['convert', 'from-voc', str(tmp_path / 'xml'), '--out',
         str(tmp_path / 'out.json'), '--report', str(tmp_path / 'n.json')]
    )  # fmt: skip
    assert code == 0
    out = capsys.readouterr().out
    assert '1 image, 1 box, 5 classes' in out
    assert "dropped 1: class 'hat' is not asked for (5.xml object 2)" in out
    written = json.loads((tmp_path / 'out.json').read_text())
    assert written['annotations'][0]['category_id'] == 5
    assert len(json.loads((tmp_path / 'n.json').read_text())) == 1


def test_the_rule_is_the_one_the_real_annotations_were_made_by(
    test_data, convert
):
    """xmin = x + 1, xmax = x + width, as LabelImg's files have them."""
    path = test_data / 'cppe5/annotations/test.json'
    original = json.loads(path.read_text())
    names = {c['id']: c['name'] for c in original['categories']}
    pages = {}
    for image in original['images']:
        items = []
        for a in original['annotations']:
            if a['image_id'] == image['id']:
                x, y, w, h = a['bbox']
                box = (x + 1, y + 1, x + w, y + h)
                items.append(item(names[a['category_id']], box))
        size = image['width'], image['height']
        pages[str(image['id'])] = page(*items, size=size, filename='a.png')
    found = convert(pages, classes=list(names.values()))
    assert found.content == original
    assert found.notes == []
