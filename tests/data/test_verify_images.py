"""Image files: what they are, and which of them look the same."""

import io
import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from tiny_release import annotations

from mmdet_cppe5.cli.main import main
from mmdet_cppe5.data.verify.verification import verify
from mmdet_cppe5.data.verify.duplicates import find_twins, groups_of
from mmdet_cppe5.data.verify.fix import fix
from mmdet_cppe5.data.verify.image_facts import ImageFacts, look, look_at_all

pytest.importorskip('imagehash')


def scene(seed, size=(400, 300)):
    """Return a smooth picture with a few shapes, unlike other seeds'."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(image)
    for _ in range(5):
        x, y = rng.uniform(0, 0.8, 2) * size
        w, h = rng.uniform(0.05, 0.2, 2) * size
        colour = tuple(rng.integers(0, 256, 3).tolist())
        draw.ellipse([x, y, x + w, y + h], fill=colour)
    return image


@pytest.fixture
def data(tmp_path):
    """Write images by name and a matching annotation file; verify both."""

    class Data:
        folder = tmp_path / 'images'
        path = tmp_path / 'gt.json'
        dataset = annotations(1, 0)

        def add(self, image, name=None, size=None, box=None, **save):
            image_id = len(self.dataset['images']) + 1
            name = name or f'{image_id}.png'
            if isinstance(image, bytes):
                (self.folder / name).write_bytes(image)
            elif image is not None:
                image.save(self.folder / name, **save)
            width, height = size or (400, 300)
            self.dataset['images'].append(
                {
                    'id': image_id,
                    'file_name': name,
                    'width': width,
                    'height': height,
                }
            )
            x, y, w, h = box or (10, 10, 50, 40)
            self.dataset['annotations'].append(
                {
                    'id': image_id,
                    'image_id': image_id,
                    'category_id': 1,
                    'bbox': [x, y, w, h],
                    'area': w * h,
                    'iscrowd': 0,
                }
            )

        def verify(self, **options):
            self.path.write_text(json.dumps(self.dataset))
            return verify(
                [self.path], [self.folder], progress=False, **options
            )

        def found(self, **options):
            return {
                item.code: item.where
                for item in self.verify(**options).report.findings
                if item.code != 'category-unused'
            }

    Data.folder.mkdir()
    return Data()


def jpeg_bytes(image, **save):
    stream = io.BytesIO()
    image.save(stream, 'JPEG', **save)
    return stream.getvalue()


def turned(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def test_good_files_have_no_findings(data):
    data.add(scene(1))
    data.add(scene(2), '2.jpg')
    data.add(scene(3), '3.webp')
    data.add(scene(4).convert('L'), '4.bmp')
    assert data.found() == {}


def test_what_a_file_is(data):
    data.add(jpeg_bytes(scene(1)), '1.png')
    data.add(scene(2).convert('RGBA'), '2.png')
    data.add(scene(3).convert('CMYK'), '3.jpg')
    data.add(Image.new('I;16', (400, 300)), '4.png')
    palette = scene(5).convert('P')
    data.add(palette, '5.png', transparency=0)
    assert data.found() == {
        'file-format': [1],
        'file-alpha': [2, 5],
        'file-colour': [3, 4],
    }


def test_files_that_cannot_be_used(data):
    whole = jpeg_bytes(scene(1))
    data.add(whole[: len(whole) // 2], '1.jpg')
    data.add(b'', '2.png')
    data.add(b'<html>', '3.png')
    data.add(None, '4.png')
    data.add(None, '5.png')
    scene(5).save(data.folder / '5.PNG')
    scene(6).save(data.folder / 'spare.png')
    data.add(None, '../outside.png')
    scene(7).save(data.folder.parent / 'outside.png')
    report = data.verify().report
    found = {item.code: item for item in report.findings}
    assert found['file-unreadable'].where == [1, 2, 3]
    assert found['file-missing'].where == [4, 5, 6]
    assert found['file-missing'].details[1].endswith('(there is 5.PNG)')
    assert found['file-unlisted'].where == ['5.PNG', 'spare.png']
    assert report.exit_code() == 1


def test_sizes_against_the_file(data):
    data.add(scene(1), '1.jpg', size=(400, 301))
    data.add(scene(2), '2.jpg', size=(300, 400))
    report = data.verify().report
    (finding,) = report.find('size-differs')
    assert finding.where == [1, 2]
    assert finding.details == [
        'image 1: declared 400 x 301, 1.jpg has 400 x 300',
        'image 2: declared 300 x 400, 2.jpg has 400 x 300: width and height '
        'are swapped',
    ]


@pytest.mark.parametrize(
    ('orientation', 'size', 'expected'),
    [
        (1, (400, 300), {}),
        (6, (300, 400), {'file-rotated': [1]}),
        (8, (300, 400), {'file-rotated': [1]}),
        (3, (400, 300), {'file-rotated': [1]}),
        (6, (400, 300), {'size-before-rotation': [1]}),
        (6, (400, 400), {'size-differs': [1]}),
        (99, (400, 300), {}),
    ],
)
def test_exif_rotation(data, orientation, size, expected):
    data.add(scene(1), '1.jpg', size=size, exif=turned(orientation))
    assert data.found() == expected


def test_the_size_is_the_one_that_mmdetection_loads(tmp_path):
    mmcv = pytest.importorskip('mmcv')
    for orientation in range(1, 9):
        path = tmp_path / f'{orientation}.jpg'
        scene(1).save(path, exif=turned(orientation))
        height, width = mmcv.imread(str(path)).shape[:2]
        assert look(path).size == (width, height)


def test_wrong_sizes_are_fixed_where_the_boxes_tell(data):
    data.add(scene(1), size=(400, 400), box=(10, 10, 380, 280))
    data.add(scene(2), size=(800, 600), box=(600, 400, 100, 50))
    data.add(scene(3), size=(800, 600), box=(10, 10, 100, 50))
    data.add(scene(4), '4.jpg', box=(10, 320, 100, 50), exif=turned(6))
    facts = data.verify().facts[0]
    fixed = fix(data.path, facts)
    images, boxes = fixed.dataset['images'], fixed.dataset['annotations']
    assert [(i['width'], i['height']) for i in images] == [
        (400, 300), (400, 300), (800, 600), (300, 400),
    ]  # fmt: skip
    assert boxes[0]['bbox'] == [10, 10, 380, 280]
    # A file of half the declared size: everything halves.
    assert boxes[1]['bbox'] == [300, 200, 50, 25]
    assert boxes[1]['area'] == 1250
    assert boxes[2]['bbox'] == [10, 10, 100, 50]
    assert len(fixed.unresolved) == 1
    assert 'image 3 declares 800 x 600' in fixed.unresolved[0]


def test_boxes_with_masks_are_not_scaled(data):
    data.add(scene(2), size=(800, 600), box=(600, 400, 100, 50))
    data.dataset['annotations'][0]['segmentation'] = [[600, 400, 700, 450]]
    facts = data.verify().facts[0]
    fixed = fix(data.path, facts)
    assert fixed.changes == []
    assert len(fixed.unresolved) == 1


def test_copies_are_found_and_different_scenes_are_not(data):
    original = scene(1)
    data.add(original)
    for seed in range(2, 12):
        data.add(scene(seed))
    data.add(jpeg_bytes(original, quality=30), '12.jpg')
    data.add(original.resize((200, 150)), '13.png', size=(200, 150),
             box=(5, 5, 25, 20))  # fmt: skip
    bright = original.point(lambda value: min(255, value + 8))
    data.add(bright, '14.png')
    data.add(original, '15.png')
    data.add(original.transpose(Image.Transpose.FLIP_LEFT_RIGHT), '16.png')
    found = data.found()
    assert found == {
        'image-repeated': [[1, 15]],
        'image-near': [[1, 12], [1, 13], [1, 14], [12, 13], [12, 14],
                       [13, 14]],
    }  # fmt: skip


def test_flat_images_of_different_colours_are_not_the_same(data):
    for position, grey in enumerate((0, 60, 120, 180)):
        data.add(Image.new('RGB', (400, 300), (grey,) * 3))
        assert position + 1 == len(data.dataset['images'])
    assert data.found() == {}


def test_a_rotated_copy_is_the_same_picture(data):
    data.add(scene(1))
    sideways = scene(1).transpose(Image.Transpose.ROTATE_90)
    data.add(sideways, '2.png', size=(400, 300), exif=turned(6))
    assert data.found() == {'file-rotated': [2], 'image-repeated': [[1, 2]]}


def test_boxes_of_twins_are_compared(data):
    data.add(scene(1), box=(10, 10, 50, 40))
    data.add(scene(1).resize((200, 150)), size=(200, 150),
             box=(5, 5, 25, 20))  # fmt: skip
    data.add(jpeg_bytes(scene(1)), '3.jpg', box=(10, 10, 50, 90))
    data.add(jpeg_bytes(scene(1), quality=40), '4.jpg')
    data.dataset['annotations'][3]['category_id'] = 2
    report = data.verify().report
    (finding,) = report.find('boxes-disagree')
    assert finding.where == [[1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]
    # 40 of 90 rows overlap.
    assert finding.details[0] == (
        '1 and 3: Coverall (annotation 1) and Coverall (annotation 3) differ '
        'in place: IoU 0.44'
    )
    assert finding.details[1] == (
        '1 and 4: Coverall (annotation 1) and Face_Shield (annotation 4) '
        'differ in class: IoU 1.00'
    )
    assert finding.details[4] == (
        '3 and 4: only in the first: Coverall (annotation 3); only in the '
        'second: Face_Shield (annotation 4)'
    )


def test_the_same_picture_in_two_splits(data, tmp_path):
    for seed in (1, 2, 3):
        data.add(scene(seed))
    scene(1).save(data.folder / 'again.png')
    (data.folder / 'close.png').write_bytes(jpeg_bytes(scene(2)))
    train = {**data.dataset, 'images': data.dataset['images'][:3]}
    test = annotations(11, 3)
    names = ['again.png', 'close.png', '3.png']
    for image, name, box in zip(test['images'], names, test['annotations']):
        image.update(file_name=name, width=400, height=300)
        box.update(bbox=[10, 10, 50, 40], area=2000, category_id=1)
    files = [tmp_path / 'train.json', tmp_path / 'test.json']
    for path, dataset in zip(files, (train, test)):
        path.write_text(json.dumps(dataset))
    found = verify(files, [data.folder], progress=False)
    report = found.report
    assert [f.source for f in report.find('split-image-near')] == [
        str(files[1])
    ]
    assert {
        item.code: item.where
        for item in report.findings
        if item.code.startswith('split')
    } == {
        'split-image-repeated': [[1, 11]],
        'split-image-near': [[2, 12]],
        'split-file-shared': [[3, 13]],
    }
    assert not report.find('boxes-disagree')
    # Each image of the folder is in one of the two files.
    assert not report.find('file-unlisted')
    assert found.twins == [[], []]


def test_the_real_test_split(test_data):
    """Both duplicates, what they say, and no false alarm."""
    folder = test_data / 'cppe5'
    path = folder / 'annotations/test.json'
    report = verify([path], [folder / 'images'], progress=False).report
    assert (report.count('error'), report.count('warning')) == (0, 2)
    found = {item.code: item.where for item in report.findings}
    assert found == {
        'image-near': [[1003, 1011]],
        'boxes-disagree': [[1003, 1011]],
        'file-format': [k for k in range(1001, 1030) if k != 1027],
        'file-alpha': [1027],
    }
    (finding,) = report.find('boxes-disagree')
    # By hand, from the boxes of the file: [840, 540, 66, 125] against
    # [819, 541, 64, 119], and [1055, 532, 64, 125] against
    # [1082, 522, 55, 117].
    first = (883 - 840) * (660 - 541)
    first /= 66 * 125 + 64 * 119 - first
    second = (1119 - 1082) * (639 - 532)
    second /= 64 * 125 + 55 * 117 - second
    assert finding.details == [
        f'1003 and 1011: Gloves (annotation 10) and Gloves (annotation 48) '
        f'differ in place: IoU {first:.2f}; Gloves (annotation 11) and '
        f'Gloves (annotation 49) differ in place: IoU {second:.2f}'
    ]


def test_all_cores_give_the_same_facts(data):
    for seed in range(40):
        scene(seed, (64, 48)).save(data.folder / f'{seed:02}.png')
    paths = sorted(data.folder.iterdir())
    alone = look_at_all(paths, workers=1, progress=False)
    assert look_at_all(paths, workers=2, progress=False) == alone
    assert len({fact.pixels for fact in alone}) == 40


def facts_of(codes):
    return [
        ImageFacts(hash=code, thumb=bytes(256), pixels=bytes([k]))
        for k, code in enumerate(codes)
    ]


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sets(st.integers(0, 63), max_size=9)),
        max_size=12,
    ),
    st.integers(0, 12),
)
@settings(max_examples=100, deadline=None)
def test_the_search_finds_every_pair_within_reach(items, bits):
    bases = (0, 0xFFFF0000FFFF0000, 0x123456789ABCDEF0)
    codes = [
        bases[base] ^ sum(1 << position for position in flips)
        for base, flips in items
    ]
    found = {(t.first, t.second): t.bits for t in find_twins(
        facts_of(codes), bits
    )}  # fmt: skip
    expected = {}
    for a in range(len(codes)):
        for b in range(a + 1, len(codes)):
            differing = bin(codes[a] ^ codes[b]).count('1')
            if differing <= bits:
                expected[a, b] = differing
    assert found == expected


def test_groups():
    assert groups_of([(1, 3), (3, 4), (0, 2)], 6).tolist() == [
        0, 1, 0, 1, 1, 5,
    ]  # fmt: skip


def test_folders_must_fit(data, tmp_path):
    data.add(scene(1))
    data.verify()
    with pytest.raises(FileNotFoundError, match='folder of images'):
        verify([data.path], [tmp_path / 'nowhere'])
    with pytest.raises(ValueError, match='one image folder, or one for each'):
        verify([data.path], [data.folder] * 2)
    with pytest.raises(ValueError, match='0 to 31 bits'):
        verify([data.path], [data.folder], bits=32, progress=False)


def test_without_imagehash_the_rest_still_works(data, monkeypatch, capsys):
    data.add(scene(1), size=(400, 301))
    data.path.write_text(json.dumps(data.dataset))
    monkeypatch.setitem(sys.modules, 'imagehash', None)
    arguments = ['verify', str(data.path), '--images', str(data.folder)]
    assert main(arguments) == 2
    assert "pip install 'mmdet-cppe5[data]'" in capsys.readouterr().err
    assert main([*arguments, '--no-duplicates']) == 1
    assert 'declared 400 x 301' in capsys.readouterr().out
