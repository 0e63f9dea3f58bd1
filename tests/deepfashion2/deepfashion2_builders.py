"""Small raw annotations, drawn here, in DeepFashion2's raw form."""

import json

from PIL import Image

from mmdet_cppe5.deepfashion2.categories import CATEGORIES


def raw_item(category_id=9, box=(10, 20, 40, 60), v=2, **changes):
    """One garment; all its landmarks at the box's middle, visibility v."""
    category = CATEGORIES[category_id - 1]
    x1, y1, x2, y2 = box
    middle = [(x1 + x2) // 2, (y1 + y2) // 2, v] if v else [0, 0, 0]
    item = {
        'category_id': category_id,
        'category_name': category.raw_name,
        'style': 1,
        'bounding_box': list(box),
        'landmarks': middle * category.landmarks,
        'segmentation': [[x1, y1, x2, y1, x2, y2, x1, y2, x1, y1]],
        'scale': 2,
        'occlusion': 1,
        'zoom_in': 3,
        'viewpoint': 2,
    }
    item.update(changes)
    return {key: value for key, value in item.items() if value is not None}


def write_raw(root, images):
    """Write ``annos`` and ``image`` folders of a small raw data set.

    Args:
        root: the folder to write to.
        images: image id -> content of its raw file.
    """
    (root / 'annos').mkdir(parents=True)
    (root / 'image').mkdir()
    for number, content in images.items():
        text = json.dumps(content)
        (root / 'annos' / f'{number:06}.json').write_text(text)
        Image.new('RGB', (80 + number, 100)).save(
            root / 'image' / f'{number:06}.jpg'
        )
    return root / 'annos', root / 'image'
