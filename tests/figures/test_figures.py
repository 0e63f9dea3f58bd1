"""Figures: hard inputs draw, names are safe, and drawn values are right."""

import threading
from xml.etree import ElementTree

import numpy as np
import pytest

from mmdet_cppe5 import figures
from mmdet_cppe5.classes import CLASSES, PALETTE
from mmdet_cppe5.core import MAIN_ERRORS
from mmdet_cppe5.figures.style import (
    class_colours,
    label,
    safe_stem,
)
from mmdet_cppe5.reports.theming import dark_colour, inline_svg, theme_css

IOU = np.linspace(0.5, 0.95, 10)
RECALL = np.linspace(0, 1, 101)
ERRORS = dict.fromkeys(MAIN_ERRORS, 0.0)
SPECIAL = {'FalsePos': 0.0, 'FalseNeg': 0.0}


def every_figure(names, value, objects):
    """All figures for some classes, one value everywhere."""
    size = len(names)
    ap = np.full(size, value)
    scores = np.array([0.2, 0.5, 0.8])
    costs = dict.fromkeys(MAIN_ERRORS, ap)
    position = np.linspace(0, 1, objects)
    missed = np.arange(objects) % 3 == 0
    models = list(names[:16])
    few = ap[:16]
    flags = np.zeros((len(models),) * 2, bool)
    return [
        figures.class_ap(names, ap, np.stack([ap, ap], 1), [1] * size, value),
        figures.ap_by_iou(names, IOU, np.tile(ap, (10, 1))),
        figures.ap_by_size(['small', 'large'], names, np.tile(ap, (2, 1))),
        figures.recall_curves(names, RECALL, np.tile(ap, (101, 1))),
        figures.iou_curves(names, RECALL, IOU, np.tile(ap, (10, 101, 1))),
        figures.score_sweep(scores, scores, scores, scores, 0.5),
        figures.class_curves(names, scores, np.tile(ap, (3, 1)), ap),
        figures.tide_summary(ERRORS, SPECIAL),
        figures.tide_by_class(names, costs),
        figures.tide_by_threshold(IOU, {'Cls': IOU, 'Loc': IOU}, IOU),
        figures.confusion_matrix(names, np.eye(size + 1), 0.5),
        figures.score_histogram([0, 0.5, 1], [0, objects], [objects, 0]),
        figures.reliability(scores, scores, [1, objects, 0], 0.1),
        figures.miss_positions(position, position, missed),
        figures.miss_sizes(position * 90, position * 50, missed),
        figures.model_intervals(models, few, np.stack([few, few], 1)),
        figures.difference_matrix(models, 0.0 * flags, flags),
        figures.speed_accuracy(models, few, np.arange(1, len(models) + 1)),
    ]


LONG = ['a/very long <name> of $class$ number ' + str(k) for k in range(80)]


@pytest.mark.parametrize(
    ('names', 'value', 'objects'),
    [
        (CLASSES, 0.0, 207),
        (['only'], 1.0, 1),
        (['only'], float('nan'), 0),
        (LONG, 0.5, 5000),
    ],
    ids=['all zero', 'one object', 'no object', '80 classes'],
)
def test_hard_inputs_draw(names, value, objects):
    drawings = every_figure(names, value, objects)
    assert len({drawing.name for drawing in drawings}) == len(drawings)
    for drawing in drawings:
        assert len(drawing.caption) > 60
        assert len(drawing.alt) > 10
        assert safe_stem(drawing.name) == drawing.name
        root = ElementTree.fromstring(drawing.svg())
        width, height = map(float, root.attrib['viewBox'].split()[2:])
        assert 0.2 < height / width < 2.6


def texts(drawing):
    root = ElementTree.fromstring(drawing.svg())
    tag = '{http://www.w3.org/2000/svg}text'
    return [''.join(node.itertext()) for node in root.iter(tag)]


def test_names_are_drawn_literally():
    """No formula between dollars, no markup, no line breaks."""
    names = ['$x^2$', '<script>', 'two\nlines']
    drawn = texts(figures.class_ap(names, np.array([0.1, 0.2, 0.3])))
    assert {'$x^2$', '<script>', 'two lines'} <= set(drawn)


def test_values_are_written_in_points():
    drawn = texts(figures.class_ap(['A', 'B'], np.array([0.25, np.nan])))
    assert '25.0' in drawn
    assert 'no objects' in drawn


def test_classes_are_ordered_by_ap():
    names = ['low', 'none', 'high']
    drawn = texts(figures.class_ap(names, np.array([0.1, np.nan, 0.9])))
    shown = [text for text in drawn if text in names]
    assert shown == ['high', 'low', 'none']


def test_confusion_gathers_the_classes_that_do_not_fit():
    """Counts are moved, not lost; the classes confused most stay."""
    counts = np.zeros((31, 31))
    counts[np.arange(30), np.arange(30)] = 7
    counts[4, 9] = 5
    drawn = texts(
        figures.confusion_matrix([f'c{k}' for k in range(30)], counts)
    )
    assert {'c4', 'c9', 'other', 'missed', 'background'} <= set(drawn)
    numbers = [int(text) for text in drawn if text.isdigit()]
    assert sum(numbers) == counts.sum()


def test_undominated_detectors_are_joined():
    """b is slower and worse than a; a and c are the front."""
    from mmdet_cppe5.figures.models import _undominated

    values, times = np.array([50, 40, 60]), np.array([10, 20, 30])
    assert _undominated(values, times) == [0, 2]


def test_stems_stay_in_their_folder():
    for name in ('../..', 'run/epoch_1', '', 'x' * 300, '.hidden'):
        stem = safe_stem(name)
        assert 0 < len(stem) <= 80
        assert '/' not in stem
        assert not stem.startswith('.')


def test_long_names_keep_both_ends():
    assert label('a' * 30 + 'b' * 30, 11) == 'aaaaa…bbbbb'
    assert label('short') == 'short'


def test_pixels_for_tensorboard():
    pixels = figures.tide_summary(ERRORS, SPECIAL).pixels(50)
    assert pixels.dtype == np.uint8
    assert pixels.shape == (165, 470, 3)  # 3.3 x 9.4 inches


def test_drawing_twice_gives_the_same_file():
    first, second = (
        figures.class_ap(['A', 'B'], np.array([0.5, 0.2])).svg()
        for _ in range(2)
    )
    assert first == second


def test_threads_do_not_disturb_each_other():
    expected = figures.class_ap(['A'], np.array([0.5])).svg()
    results = [None] * 4

    def draw(place):
        results[place] = figures.class_ap(['A'], np.array([0.5])).svg()

    threads = [threading.Thread(target=draw, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_cppe5_colours_follow_the_class_not_its_place():
    colours = class_colours(('Mask', 'Coverall'))
    assert colours == [
        '#{:02x}{:02x}{:02x}'.format(*PALETTE[CLASSES.index(name)])
        for name in ('Mask', 'Coverall')
    ]
    assert class_colours(('Mask', 'dog'))[0] != colours[0]


def contrast(one, other):
    """The WCAG contrast ratio of two colours."""

    def luminance(colour):
        rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(
            rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_seen_in_both_themes():
    """Text 4.5 : 1, lines and dots 3 : 1 (WCAG 2.1)."""
    from mmdet_cppe5.figures.style import INK, MUTED, PAPER

    dark_paper = dark_colour(PAPER)
    for colour in (INK, MUTED):
        assert contrast(colour, PAPER) >= 4.5
        assert contrast(dark_colour(colour), dark_paper) >= 4.5
    for colour in class_colours(CLASSES):
        assert contrast(colour, PAPER) >= 3
        assert contrast(dark_colour(colour), dark_paper) >= 3


def test_inline_svg_leaves_no_colour_and_no_font_of_its_own():
    colours = set()
    svg = inline_svg(figures.class_ap(['A'], np.array([0.5])), colours)
    assert svg.startswith('<svg viewBox=')
    assert '#ffffff' not in svg
    assert 'DejaVu' not in svg
    assert '<style' not in svg
    light, dark = theme_css(colours)
    assert light.count(':#') == dark.count(':#') == len(colours)
