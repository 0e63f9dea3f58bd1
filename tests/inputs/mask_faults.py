"""Masks that are none, and what the one sentence says of each."""

from world import HEIGHT, WIDTH, compressed, outline

PIXELS = HEIGHT * WIDTH
SIZE = [HEIGHT, WIDTH]
SQUARE = outline(20, 30, 40, 50)
TEXT = compressed(20, 30, 40, 50)['counts']


def vertex(value):
    return [[*SQUARE[:4], value, *SQUARE[5:]]]


def code(counts, size=SIZE):
    return {'size': size, 'counts': counts}


FAULTS = {
    'far vertex': (vertex(2e8), 'within 1,000,000 pixels'),
    'far the other way': (vertex(-2e8), 'within 1,000,000 pixels'),
    'NaN': (vertex(float('nan')), 'but got nan'),
    'infinite': (vertex(float('inf')), 'but got inf'),
    'minus infinity': (vertex(float('-inf')), 'but got -inf'),
    'huge': (vertex(1e300), r'but got 1e\+300'),
    'integer of 400 digits': (vertex(10**400), 'integer of about 400 digits'),
    'null': (vertex(None), 'but got None'),
    'text': (vertex('12'), "but got '12'"),
    'true': (vertex(True), 'but got True'),
    'point in a list': (vertex([1, 2]), r'but got \[1, 2\]'),
    'odd': ([[*SQUARE, 3]], r'odd number of coordinates \(9\)'),
    'two points': ([[1, 2, 3, 4]], 'at least three points'),
    'empty polygon': ([[]], 'at least three points'),
    'polygon of null': ([None], 'at least three points'),
    'flat list': (SQUARE, 'at least three points'),
    'long outline': (
        [[-1e5, -1e5, 1e5, 1e5] * 20], 'outline of at most 4,000,000 pixels'
    ),
    'second polygon': ([SQUARE, [5, 5, 9]], 'at least three points'),
    'negative count': (code([100, -50, PIXELS - 50]), 'but got -50'),
    'sum too small': (code([100, 50, 70]), 'they add up to 220'),
    'sum too large': (code([PIXELS, 1]), f'add up to {PIXELS + 1:,}'),
    'no counts': (code([]), 'they add up to 0'),
    'count over 32 bits': (code([2**32, PIXELS]), 'but got 4294967296'),
    'count of null': (code([None, PIXELS]), 'but got None'),
    'count of text': (code(['9', PIXELS - 9]), "but got '9'"),
    'half a pixel': (code([0.5, PIXELS - 0.5]), 'but got 0.5'),
    'true as count': (code([True, PIXELS - 1]), 'but got True'),
    'NaN as count': (code([float('nan')]), 'but got nan'),
    'counts of null': (code(None), "'counts' are a text or numbers"),
    'counts of a number': (code(7), "'counts' are a text or numbers"),
    'bytes as text': (code(f"b'{TEXT}'"), 'text of Python bytes'),
    'cut short': (code(TEXT[:-3]), 'decodes to runs'),
    'ends in the middle': (code(TEXT[:1] + 'o'), 'decodes to runs'),
    'endless number': (code('o' * 40 + '0'), 'decodes to runs'),
    'foreign characters': (code('  ~~~'), 'decodes to runs'),
    'not ASCII': (code('äöü'), 'decodes to runs'),
    'no text at all': (code(''), 'decodes to runs'),
    'twice': (code(TEXT + TEXT), 'decodes to runs'),
    'size missing': ({'counts': [PIXELS]}, "it has no 'size'"),
    'counts missing': ({'size': SIZE}, "it has no 'counts'"),
    'width before height': (
        code([PIXELS], [WIDTH, HEIGHT]), "its image's height and width"
    ),
    'size of text': (code([PIXELS], ['240', '320']), "whose 'size' is"),
    'size of one': (code([PIXELS], [HEIGHT]), "whose 'size' is"),
    'size of null': (code([PIXELS], None), "whose 'size' is"),
    'negative size': (code([PIXELS], [-240, -320]), "whose 'size' is"),
    'a text': ('mask.png', 'polygons or a run-length code'),
    'a number': (7, 'polygons or a run-length code'),
}  # fmt: skip
