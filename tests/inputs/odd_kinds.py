"""What is odd about a file, and what is said of it."""


def each(part, key, value):
    """Set a field of every record; ``value`` may be a function of it."""

    def change(data, entries):
        for item in entries if part == 'entries' else data[part]:
            _set(item, key, value)

    return change


def one(part, key, value, place=0):
    """Set a field of one record."""

    def change(data, entries):
        items = entries if part == 'entries' else data[part]
        _set(items[place], key, value)

    return change


def _set(item, key, value):
    if value is KeyError:
        del item[key]
    else:
        item[key] = value(item) if callable(value) else value


def again(part, **fields):
    """List the first record of a part once more."""
    return lambda data, entries: data[part].append({**data[part][0], **fields})


def texts(item):
    return list(map(str, item['bbox']))


def text_ids(data, entries):
    for items, key in (
        (data['images'], 'id'),
        (data['annotations'], 'image_id'),
        (entries, 'image_id'),
    ):
        for item in items:
            item[key] = str(item[key])


# What is odd, and what the notice says of it; None where nothing is.
CLEAR = {
    'image twice': (again('images'), '1 too many, such as id 1'),
    'image twice, other licence': (again('images', license=7), '1 too many'),
    'every image twice': (
        lambda data, entries: data['images'].extend(data['images'][:]),
        '4 too many',
    ),
    'category twice': (again('categories'), 'lists categories more than once'),
    'no name': (one('categories', 'name', KeyError), "such as 'category 1'"),
    'no names': (each('categories', 'name', KeyError), 'id 1, 2, 3'),
    'name of null': (one('categories', 'name', None), "'category 1'"),
    'empty name': (one('categories', 'name', ''), "'category 1'"),
    'half a character': (one('categories', 'name', '\ud800'), "'category 1'"),
    'name in a list': (one('categories', 'name', ['a']), "'category 1'"),
    'true as name': (one('categories', 'name', True), "'category 1'"),
    'number as name': (one('categories', 'name', 7), 'by a number (7)'),
    'numbers as names': (
        each('categories', 'name', lambda item: item['id'] / 2),
        'names 3 categories by a number (0.5, 1.0, 1.5)',
    ),
    'number and text': (
        lambda data, entries: (
            data['categories'][0].update(name=7),
            data['categories'][1].update(name='7'),
        ),
        'told apart by id',
    ),
    'boxes of texts': (each('annotations', 'bbox', texts), '10 boxes as text'),
    'box of texts': (one('annotations', 'bbox', texts), '1 box as texts'),
    'box with a text': (
        one('annotations', 'bbox', lambda item: ['12', *item['bbox'][1:]]),
        '1 box as texts',
    ),
    'iscrowd 2': (one('annotations', 'iscrowd', 2), 'an iscrowd above 1'),
    'iscrowd 255': (one('annotations', 'iscrowd', 255), 'an iscrowd above 1'),
    'iscrowd true': (one('annotations', 'iscrowd', True), None),
    'iscrowd false': (each('annotations', 'iscrowd', False), None),
    'iscrowd 1.0': (one('annotations', 'iscrowd', 1.0), None),
    'ignore': (one('annotations', 'ignore', 1), None),
    'annotation of an unlisted image': (
        one('annotations', 'image_id', 99, 3), '1 annotation of'
    ),
    'image left out': (
        lambda data, entries: (
            data['images'].pop(),
            entries.__setitem__(
                slice(None), [e for e in entries if e['image_id'] != 4]
            ),
        ),
        '2 annotations of',
    ),
    'same annotation twice': (
        again('annotations'), 'uses 1 annotation id more than once'
    ),
    'no info': (lambda data, entries: data.pop('info'), None),
    'no sizes': (each('images', 'width', KeyError), None),
    'no file names': (each('images', 'file_name', KeyError), None),
    'image ids as texts': (text_ids, None),
    'fractional annotation ids': (
        each('annotations', 'id', lambda item: item['id'] + 0.5), None
    ),
    'unused category without name': (
        lambda data, entries: data['categories'].append({'id': 77}), 'id 77'
    ),
    'empty box': (one('annotations', 'bbox', [9, 9, 0, 0]), None),
    'scores of 95': (
        each('entries', 'score', lambda item: 100 * item['score']), None
    ),
    'negative scores': (
        each('entries', 'score', lambda item: -item['score']), None
    ),
    'image ids as floats': (
        each('entries', 'image_id', lambda item: float(item['image_id'])), None
    ),
    'results with ids, areas, crowds': (
        lambda data, entries: [
            e.update(id=k, area=1, iscrowd=1) for k, e in enumerate(entries)
        ],
        None,
    ),
}  # fmt: skip

# What is odd, and what the one sentence says: pycocotools fails, or its
# number is wrong without a word.
REFUSED = {
    'two pictures under one id': (
        again('images', file_name='b.jpg'), "file_name 'shot_1.jpg' and 'b.jpg"
    ),
    'two sizes under one id': (again('images', width=7), 'width 320 and 7'),
    'two names under one id': (
        again('categories', name='b'), "the name 'mask' and 'b'"
    ),
    "iscrowd '0'": (one('annotations', 'iscrowd', '0'), "but got '0'"),
    "iscrowd '1'": (one('annotations', 'iscrowd', '1'), "but got '1'"),
    'iscrowd 0.5': (one('annotations', 'iscrowd', 0.5), 'but got 0.5'),
    'iscrowd 256': (one('annotations', 'iscrowd', 256), 'but got 256'),
    'iscrowd -1': (one('annotations', 'iscrowd', -1), 'but got -1'),
    'iscrowd NaN': (one('annotations', 'iscrowd', float('nan')), 'got nan'),
    'box of words': (
        one('annotations', 'bbox', ['a', '1', '2', '3']), "'bbox' of annota"
    ),
    'box of nan as text': (
        one('annotations', 'bbox', ['nan', '1', '2', '3']), 'finite numbers'
    ),
    'true in a box': (one('annotations', 'bbox', [True, 2, 3, 4]), '[True'),
    'results of texts': (each('entries', 'bbox', texts), "'bbox' of entry"),
    'true as score': (one('entries', 'score', True), 'but got True'),
    'true as area': (one('annotations', 'area', True), 'but got True'),
    'infinite area': (one('annotations', 'area', float('inf')), 'got inf'),
    'negative area': (one('annotations', 'area', -5), 'but got -5'),
    'category of no category': (
        one('annotations', 'category_id', 99), "'category_id' of annotation"
    ),
    'every annotation of other images': (
        each('annotations', 'image_id', 99), "'image_id' of annotation id 1"
    ),
    'an image id of another type': (
        one('annotations', 'image_id', '2'), 'the image id 2 as int'
    ),
    'results of an unlisted image': (
        one('entries', 'image_id', 99), "'image_id' of entry number 0"
    ),
    'no annotations': (
        lambda data, entries: data.pop('annotations'), "no 'annotations'"
    ),
}  # fmt: skip
