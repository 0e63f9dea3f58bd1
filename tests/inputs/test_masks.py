"""Masks as exporters write them: read as pycocotools does, or refused."""

import time

import numpy as np
import pytest
from mask_faults import FAULTS, SIZE, SQUARE, vertex
from pycocotools import mask as mask_api
from world import (
    HEIGHT,
    WIDTH,
    compressed,
    counted,
    found,
    judged,
    outlines,
    truth,
)

from mmdet_cppe5.coco import parse_ground_truth
from mmdet_cppe5.coco.mask_content import mask_fault
from mmdet_cppe5.coco.masks import check_masks
from mmdet_cppe5.coco.run_lengths import WRONG, measure

PIXELS = HEIGHT * WIDTH


@pytest.mark.parametrize('name', FAULTS)
def test_fault_is_one_sentence_that_names_the_annotation(folder, name):
    mask, expected = FAULTS[name]
    data = truth(outlines)
    data['annotations'][4]['segmentation'] = mask
    gt = folder.write('gt.json', data)
    dt = folder.write('dt.json', found(outlines))
    start = time.perf_counter()
    said = folder.sentence('evaluate', gt, dt, '--iou-type', 'segm')
    assert time.perf_counter() - start < 5
    assert f'annotation id 5 (image id 2) of {gt}' in said
    with pytest.raises(ValueError, match=expected):
        raise ValueError(said)
    with pytest.raises(ValueError, match=expected):
        check_masks(parse_ground_truth(data, 'gt.json'))


@pytest.mark.parametrize('name', FAULTS)
def test_fault_is_one_sentence_that_names_the_result(folder, name):
    mask, expected = FAULTS[name]
    entries = found(outlines)
    entries[7]['segmentation'] = mask
    gt = folder.write('gt.json', truth(outlines))
    dt = folder.write('dt.json', entries)
    for command in (['evaluate', gt, dt], ['compare', gt, dt, dt]):
        said = folder.sentence(*command, '--iou-type', 'segm')
        assert f'entry number 7 (image id 3) of {dt}' in said
        with pytest.raises(ValueError, match=expected):
            raise ValueError(said)


@pytest.mark.parametrize('gt', [outlines, counted, compressed])
@pytest.mark.parametrize('dt', [outlines, counted, compressed])
def test_every_form_scores_as_pycocotools(folder, gt, dt):
    data, entries = truth(gt), found(dt)
    scores, _ = folder.scores(data, entries, '--iou-type', 'segm')
    assert scores['AP'] == pytest.approx(
        judged(data, entries, 'segm')[0], abs=1e-9
    )


@pytest.mark.parametrize('shift', [0, 1000, 9000, 60000])
def test_vertices_far_outside_the_image_are_cut_as_by_pycocotools(
    folder, shift
):
    data, entries = truth(outlines), found(outlines)
    polygon = data['annotations'][2]['segmentation'][0]
    polygon[2] += shift
    polygon[1] -= shift
    scores, _ = folder.scores(data, entries, '--iou-type', 'segm')
    assert scores['AP'] == pytest.approx(
        judged(data, entries, 'segm')[0], abs=1e-9
    )


def test_run_lengths_bring_their_size_where_images_state_none(folder):
    data, entries = truth(compressed), found(compressed)
    expected = judged(data, entries, 'segm')[0]
    for image in data['images']:
        del image['width'], image['height']
    scores, _ = folder.scores(data, entries, '--iou-type', 'segm')
    assert scores['AP'] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    'side', [0, -5, 1e308, 10**400, 2**31, 1.5, True, '240', [240]]
)
def test_an_impossible_image_size_is_named(folder, side):
    data = truth(outlines)
    data['images'][1]['height'] = side
    gt = folder.write('gt.json', data)
    dt = folder.write('dt.json', found(outlines))
    said = folder.sentence('evaluate', gt, dt, '--iou-type', 'segm')
    assert "'height' and 'width' of image id 2" in said


def test_masks_without_boxes_score_as_pycocotools(folder):
    data, entries = truth(outlines), found(compressed)
    expected = judged(data, entries, 'segm')
    bounds = judged(data, _without(entries, 'bbox'), 'bbox')
    for item in data['annotations']:
        del item['bbox']
    masks = _without(entries, 'bbox')
    scores, _ = folder.scores(data, masks, '--iou-type', 'segm')
    assert scores['AP'] == pytest.approx(expected[0], abs=1e-9)
    # And without areas, those of the masks.
    for item in data['annotations']:
        del item['area']
    scores, _ = folder.scores(data, masks, '--iou-type', 'segm')
    assert scores['AP'] == pytest.approx(expected[0], abs=1e-9)
    # Masks of results stand for boxes, as loadRes has it.
    scores, _ = folder.scores(truth(), masks)
    assert scores['AP'] == pytest.approx(bounds[0], abs=1e-9)
    gt = folder.write('gt.json', data)
    dt = folder.write('dt.json', masks)
    said = folder.sentence('evaluate', gt, dt)
    assert "Expected a 'bbox' in annotation id 1" in said


@pytest.mark.parametrize('value', [None, []])
def test_an_empty_box_beside_a_mask_is_no_box(folder, value):
    entries = found(compressed)
    bounds = judged(truth(), _without(entries, 'bbox'), 'bbox')
    for item in entries:
        item['bbox'] = value
    scores, _ = folder.scores(truth(), entries)
    assert scores['AP'] == pytest.approx(bounds[0], abs=1e-9)


def _without(entries, key):
    return [{k: v for k, v in e.items() if k != key} for e in entries]


def decoded(text):
    """Runs of a compressed string, number by number; None if it is none."""
    runs, place = [], 0
    while place < len(text):
        value = shift = 0
        more = True
        while more:
            if place == len(text) or not 0 <= text[place] - 48 < 64:
                return None
            bits = text[place] - 48
            value |= (bits & 31) << shift
            more, place, shift = bits & 32, place + 1, shift + 5
        if bits & 16:
            value -= 1 << shift
        if shift > 35:
            return None
        runs.append(value + runs[-2] if len(runs) > 2 else value)
    return runs


def pixels(text, total):
    runs = decoded(text)
    right = runs and min(runs) >= 0 and sum(runs) == total
    return sum(runs[1::2]) if right else WRONG


def broken(text, rng):
    """A string with up to two other characters, now and then cut short."""
    text = bytearray(text)
    for _ in range(rng.integers(0, 3)):
        text[rng.integers(len(text))] = rng.integers(40, 120)
    if rng.random() < 0.2:
        text = text[: rng.integers(len(text) + 1)]
    return bytes(text)


def counted_pixels(texts, size=SIZE):
    return measure(texts, np.array([size] * len(texts))).pixels.tolist()


def test_many_strings_are_judged_as_one_by_one():
    rng = np.random.default_rng(7)
    strings = []
    for _ in range(3000):
        box = *rng.integers(0, 100, 2), *rng.integers(1, 90, 2)
        text = compressed(*map(int, box))['counts'].encode()
        strings.append(broken(text, rng))
    expected = [pixels(text, PIXELS) for text in strings]
    texts = [text.decode() for text in strings]
    assert counted_pixels(texts) == expected
    assert 0 < expected.count(WRONG) < len(expected)
    # Right ones alone, whose pixels pycocotools counts too; each wrong one
    # must be found among them.
    right = [k for k, count in enumerate(expected) if count != WRONG]
    wrong = [k for k, count in enumerate(expected) if count == WRONG]
    codes = [{'size': SIZE, 'counts': texts[k]} for k in right[:200]]
    counts = counted_pixels([code['counts'] for code in codes])
    assert counts == mask_api.area(codes).tolist()
    good = [code['counts'] for code in codes[:20]]
    for k in wrong[:300]:
        found = counted_pixels([*good, texts[k], *good])
        assert found.index(WRONG) == 20
        assert found.count(WRONG) == 1


@pytest.mark.parametrize('last', ['alike', 'mixed'])
@pytest.mark.parametrize('rows', [1, 2, 3, 40])
def test_pixels_of_random_masks_are_those_of_pycocotools(rows, last):
    """Few and many runs; masks that end in a pixel have an even number."""
    rng = np.random.default_rng(rows)
    masks = rng.random((200, rows, 5)) < rng.random((200, 1, 1))
    if last == 'alike':
        masks[:, -1, -1] = False
    codes = [
        mask_api.encode(np.asfortranarray(mask, np.uint8)) for mask in masks
    ]
    texts = [code['counts'].decode() for code in codes]
    found = measure(texts, np.array([[rows, 5]] * 200), bounds=True)
    assert found.pixels.tolist() == mask_api.area(codes).tolist()
    assert found.boxes.tolist() == mask_api.toBbox(codes).tolist()


def test_measures_of_masks_of_many_sizes_are_those_of_pycocotools():
    rng = np.random.default_rng(0)
    codes = []
    for _ in range(2000):
        high, wide = rng.integers(1, 60, 2)
        mask = np.zeros((high, wide), np.uint8, 'F')
        top, left = rng.integers(0, (high, wide))
        mask[top : top + 20, left : left + 20] = 1
        codes.append(mask_api.encode(mask))
    texts = [code['counts'].decode() for code in codes]
    sizes = np.array([code['size'] for code in codes])
    found = measure(texts, sizes, bounds=True)
    np.testing.assert_array_equal(found.boxes, mask_api.toBbox(codes))
    np.testing.assert_array_equal(
        found.pixels, np.concatenate([mask_api.area([c]) for c in codes])
    )


def test_bounds_of_runs_of_no_length_are_those_of_pycocotools():
    """Encoders need not join runs that an empty one parts."""
    rng = np.random.default_rng(1)
    texts, size = [], [6, 4]
    for _ in range(3000):
        cuts = np.sort(rng.integers(0, 25, rng.integers(0, 9)))
        runs = np.diff([0, *cuts.tolist(), 24]).tolist()
        steps = [r - runs[k - 2] if k > 2 else r for k, r in enumerate(runs)]
        texts.append(''.join(map(number, steps)))
    found = measure(texts, np.array([size] * 3000), bounds=True)
    codes = [{'size': size, 'counts': text} for text in texts]
    expected = mask_api.toBbox(codes)
    # Most are left to pycocotools, which may draw other bounds round them.
    known = ~np.isnan(found.boxes[:, 0])
    np.testing.assert_array_equal(found.boxes[known], expected[known])
    assert 1000 < known.sum() < 2500
    assert found.pixels.tolist() == [mask_api.area(code) for code in codes]


def test_runs_that_add_up_only_in_32_bits_are_refused():
    """Each is over the bound of a run with its sign, or 2^32 too many."""
    for runs in ([2**31, 2**31, PIXELS], [2**32 - 5, 5, PIXELS],
                 [2**31 - 1, 2**31 - 1, 2 + PIXELS]):  # fmt: skip
        text = ''.join(map(number, runs))
        assert sum(runs) % 2**32 == PIXELS
        assert counted_pixels([text]) == [WRONG]


def number(value):
    """A number as compressed run lengths write it."""
    text = ''
    while not -16 <= value < 16:
        text, value = text + chr(48 + (value & 31 | 32)), value >> 5
    return text + chr(48 + (value & 31))


def test_a_fault_is_found_among_thousands():
    good = [outlines(10, 10, 5, 5), compressed(10, 10, 5, 5)]
    assert not any(mask_fault(mask, (HEIGHT, WIDTH)) for mask in good)
    data = truth(outlines)
    data['annotations'] = [
        {**data['annotations'][0], 'id': k, 'segmentation': good[k % 2]}
        for k in range(5000)
    ]
    check_masks(parse_ground_truth(data, 'gt.json'))
    data['annotations'][4321]['segmentation'] = vertex(None)
    with pytest.raises(ValueError, match='annotation id 4321'):
        check_masks(parse_ground_truth(data, 'gt.json'))


@pytest.mark.parametrize('side', ['height', 'width'])
def test_a_null_size_is_not_said_to_be_listed(folder, monkeypatch, side):
    monkeypatch.chdir(folder.path)
    world = truth()
    for annotation in world['annotations']:
        annotation['segmentation'] = [SQUARE]
    world['images'][0][side] = None
    folder.write('gt.json', world)
    folder.write('dt.json', found())
    said = folder.sentence(
        'evaluate', 'gt.json', 'dt.json', '--iou-type', 'segm'
    )
    assert f"Expected a '{side}' in image id 1" in said
    assert 'but it is None' in said
