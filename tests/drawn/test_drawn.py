"""The drawn data set: its form, its boxes, and that it never changes."""

import json

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.drawn import draw_scene, write_drawn_dataset
from mmdet_cppe5.drawn.canvas import Brush, Canvas
from mmdet_cppe5.drawn.compositions import COMPOSITIONS
from mmdet_cppe5.drawn.shapes import (
    blob,
    box,
    grown,
    limb,
    points,
    symmetric,
)

SMALL, LARGE = 32**2, 96**2  # COCO's bin edges, in square pixels


def files_of(root):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob('*'))
        if path.is_file()
    }


def read(path):
    return json.loads(path.read_text())


class TestDataset:
    def test_same_arguments_write_the_same_bytes(
        self, drawn_dataset, tmp_path
    ):
        again = write_drawn_dataset(tmp_path, 6, 4, seed=0)
        assert files_of(again.root) == files_of(drawn_dataset.root)
        assert len(files_of(tmp_path)) == 6 + 4 + 2

    def test_smaller_set_is_the_beginning_of_a_larger_one(
        self, drawn_dataset, tmp_path
    ):
        smaller = files_of(write_drawn_dataset(tmp_path, 2, 1, 0).root)
        larger = files_of(drawn_dataset.root)
        images = [name for name in smaller if name.startswith('images')]
        assert len(images) == 3
        assert all(smaller[name] == larger[name] for name in images)

    def test_another_seed_draws_other_scenes(self, drawn_dataset, tmp_path):
        other = write_drawn_dataset(tmp_path, 1, 0, seed=1)
        name = other.images / '1.png'
        assert (
            name.read_bytes() != (drawn_dataset.images / '1.png').read_bytes()
        )

    @pytest.mark.parametrize(
        ('split', 'first', 'count'), [('train', 1, 6), ('test', 1001, 4)]
    )
    def test_form_is_that_of_cppe5(self, drawn_dataset, split, first, count):
        data = read(getattr(drawn_dataset, split))
        assert set(data) == {'images', 'type', 'annotations', 'categories'}
        assert data['type'] == 'instances'
        assert [c['id'] for c in data['categories']] == [1, 2, 3, 4, 5]
        assert [c['name'] for c in data['categories']] == list(CLASSES)
        assert {c['supercategory'] for c in data['categories']} == {'none'}
        ids = list(range(first, first + count))
        assert [i['id'] for i in data['images']] == ids
        assert [i['file_name'] for i in data['images']] == [
            f'{i}.png' for i in ids
        ]
        numbers = [a['id'] for a in data['annotations']]
        assert numbers == list(range(1, len(numbers) + 1))
        for annotation in data['annotations']:
            x, y, w, h = annotation['bbox']
            rest = {
                key: value
                for key, value in annotation.items()
                if key not in ('bbox', 'id', 'image_id', 'category_id')
            }
            assert rest == {
                'area': w * h,
                'iscrowd': 0,
                'ignore': 0,
                'segmentation': [],
            }
            assert all(type(v) is int for v in (x, y, w, h))

    def test_keys_are_those_of_the_real_files(self, drawn_dataset, test_data):
        real = read(test_data / 'cppe5' / 'annotations' / 'test.json')
        drawn = read(drawn_dataset.test)
        assert set(drawn) == set(real)
        assert drawn['categories'] == real['categories']
        for key in ('images', 'annotations'):
            assert set(drawn[key][0]) == set(real[key][0])

    def test_sizes_are_true_and_boxes_inside(self, drawn_dataset):
        coco = COCO(str(drawn_dataset.test))
        for image in coco.dataset['images']:
            with Image.open(drawn_dataset.images / image['file_name']) as file:
                assert file.format == 'PNG'
                assert file.mode == 'RGB'
                assert file.size == (image['width'], image['height'])
        for annotation in coco.dataset['annotations']:
            image = coco.imgs[annotation['image_id']]
            x, y, w, h = annotation['bbox']
            assert 0 <= x < x + w <= image['width']
            assert 0 <= y < y + h <= image['height']

    def test_every_class_comes_in_every_size_in_both_splits(self, tmp_path):
        # The default set, 200 and 29 images, begins with these.
        paths = write_drawn_dataset(tmp_path, 24, 29, seed=0)
        for file in (paths.train, paths.test):
            found = {
                (
                    a['category_id'],
                    bool(a['area'] > SMALL) + (a['area'] > LARGE),
                )
                for a in read(file)['annotations']
            }
            assert len(found) == 5 * 3

    @pytest.mark.parametrize(
        ('arguments', 'message'),
        [((-1, 4), 'at least 0'), ((1001, 4), 'at most 1000 training')],
    )
    def test_impossible_numbers_are_refused(
        self, tmp_path, arguments, message
    ):
        with pytest.raises(ValueError, match=message):
            write_drawn_dataset(tmp_path, *arguments)
        assert not list(tmp_path.iterdir())


class TestScene:
    @pytest.mark.parametrize('kind', COMPOSITIONS)
    def test_every_kind_of_scene_draws_something(self, kind):
        picture, boxes = draw_scene(np.random.default_rng([5, 5]), kind)
        assert picture.dtype == np.uint8
        assert picture.std() > 20
        assert {box.category for box in boxes} <= {1, 2, 3, 4, 5}

    def test_unknown_kind_is_refused(self):
        with pytest.raises(ValueError, match="portrait.*got 'selfie'"):
            draw_scene(np.random.default_rng(0), 'selfie')


def fill(canvas, outline, owner, alpha=255):
    canvas.fill(outline, (9, 9, 9), owner, alpha)


class TestCanvas:
    def test_box_is_tight_by_hand(self):
        canvas = Canvas(40, 30)
        fill(canvas, box(4, 5, 13.6, 20.6), canvas.new_object('Gloves'))
        # Pixels 4..13 across and 5..20 down; Gloves are the third class.
        assert canvas.boxes(1, 0.1) == [(3, 4, 5, 14 - 4, 21 - 5)]

    def test_lines_belong_to_an_object_too(self):
        canvas = Canvas(40, 30)
        mask = canvas.new_object('Mask')
        canvas.line([(4, 10), (20, 10)], (9, 9, 9), 17 / 3, mask)
        # 17 fine rows around the 30th, 22..38, lie in the pixels 7..12.
        assert canvas.boxes(1, 0.1) == [(5, 4, 7, 21 - 4, 6)]

    def test_what_is_drawn_later_hides_what_was_before(self):
        canvas = Canvas(40, 30)
        first, second = (canvas.new_object('Coverall') for _ in range(2))
        fill(canvas, box(0, 0, 19.6, 9.6), first)
        canvas.settle()
        fill(canvas, box(12, -5, 30, 40), second)
        assert canvas.boxes(1, 0.1)[0] == (1, 0, 0, 12, 10)
        # 12 of 20 columns are left: above one half, below two thirds.
        assert len(canvas.boxes(1, 0.55)) == 2
        assert len(canvas.boxes(1, 0.65)) == 1

    def test_an_object_that_is_wholly_hidden_has_no_box(self):
        canvas = Canvas(40, 30)
        first, second = (canvas.new_object('Coverall') for _ in range(2))
        fill(canvas, box(5, 5, 9, 9), first)
        canvas.settle()
        fill(canvas, box(0, 0, 20, 20), second)
        assert canvas.boxes(1, 0.0) == [(1, 0, 0, 21, 21)]

    def test_glass_leaves_what_is_behind_it_visible(self):
        canvas = Canvas(40, 30)
        fill(canvas, box(5, 5, 14.6, 14.6), canvas.new_object('Coverall'))
        canvas.settle()
        fill(canvas, box(0, 0, 39, 29), 0, alpha=120)
        assert canvas.boxes(1, 0.99) == [(1, 5, 5, 10, 10)]

    def test_objects_cut_by_the_border_end_there(self):
        canvas = Canvas(40, 30)
        fill(canvas, box(-20, 25, 9.6, 90), canvas.new_object('Coverall'))
        fill(canvas, box(50, 50, 60, 60), canvas.new_object('Coverall'))
        assert canvas.boxes(1, 0.1) == [(1, 0, 25, 10, 5)]

    def test_slivers_are_left_out(self):
        canvas = Canvas(40, 30)
        fill(canvas, box(0, 0, 2.6, 20), canvas.new_object('Coverall'))
        assert canvas.boxes(4, 0.1) == []
        assert len(canvas.boxes(3, 0.1)) == 1

    def test_more_objects_than_the_map_can_hold_are_refused(self):
        canvas = Canvas(4, 4)
        for _ in range(255):
            canvas.new_object('Mask')
        with pytest.raises(ValueError, match='at most 255'):
            canvas.new_object('Mask')


class TestShapes:
    def test_brush_turns_clockwise_then_mirrors(self):
        # A quarter turn takes "right" to "down" where y points down.
        turned = Brush(None, 10, 20, 3, angle=90).place([(1, 0)])
        np.testing.assert_allclose(turned, [[10, 20 + 3]], atol=1e-12)
        mirrored = Brush(None, 10, 20, 3, mirror=-1).place([(1, 2)])
        np.testing.assert_allclose(mirrored, [[10 - 3, 20 + 6]])

    def test_points_are_hundredths(self):
        np.testing.assert_allclose(
            points('1,-2 30,4.5'), [[0.01, -0.02], [0.3, 0.045]]
        )

    def test_symmetric_outline_passes_through_both_halves(self):
        outline = symmetric('0,0 20,10 10,30 0,40').tolist()
        for x, y in ((0, 0), (0.2, 0.1), (-0.2, 0.1), (-0.1, 0.3), (0, 0.4)):
            assert [x, y] in outline
        assert len(outline) == 6 * 8

    def test_grown_square_keeps_its_corners(self):
        square = box(0, 0, 10, 10)
        np.testing.assert_allclose(grown(square, 1), box(-1, -1, 11, 11))
        np.testing.assert_allclose(grown(square, -2), box(2, 2, 8, 8))
        # The direction of travel does not matter.
        np.testing.assert_allclose(
            grown(square[::-1], 1), box(-1, -1, 11, 11)[::-1]
        )

    def test_extents_of_round_shapes(self):
        ellipse = blob(5, 6, 2, 3)
        np.testing.assert_allclose(ellipse.min(axis=0), [5 - 2, 6 - 3])
        np.testing.assert_allclose(ellipse.max(axis=0), [5 + 2, 6 + 3])
        rod = limb((0, 0), (0, 10), 2, 1)
        assert rod[:, 1].max() == pytest.approx(10 + 1, abs=0.02)
        assert rod[:, 1].min() == pytest.approx(0 - 2, abs=0.03)
