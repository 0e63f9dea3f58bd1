"""A data set of CPPE-5's form, small enough to build in a test."""

import hashlib
import io
import json
import tarfile

from PIL import Image

from mmdet_cppe5.classes import CLASSES

SPLITS = {'train': 3, 'test': 2}


def picture(seed, size=(40, 30), image_format='JPEG', mode='RGB'):
    """Return the bytes of an image of coloured stripes."""
    image = Image.new(mode, size)
    colours = [(seed * 37 + k * 91) % 256 for k in range(3)]
    for x in range(size[0]):
        band = (x * (seed % 5 + 2) // size[0]) % 2
        value = tuple(c if band else 255 - c for c in colours)
        for y in range(size[1]):
            image.putpixel((x, y), value[: len(image.getbands())])
    stream = io.BytesIO()
    image.save(stream, image_format)
    return stream.getvalue()


def annotations(first, count):
    """Return a COCO data set of ``count`` images from id ``first`` on."""
    images, boxes = [], []
    for image_id in range(first, first + count):
        images.append(
            {
                'file_name': f'{image_id}.png',
                'height': 30,
                'width': 40,
                'id': image_id,
            }
        )
        boxes.append(
            {
                'area': 50,
                'iscrowd': 0,
                'bbox': [image_id % 20, 3, 5, 10],
                'category_id': image_id % 5 + 1,
                'ignore': 0,
                'segmentation': [],
                'image_id': image_id,
                'id': len(boxes) + 1,
            }
        )
    categories = [
        {'supercategory': 'none', 'id': k, 'name': name}
        for k, name in enumerate(CLASSES, start=1)
    ]
    return {
        'images': images,
        'type': 'instances',
        'annotations': boxes,
        'categories': categories,
    }


def files():
    """Return the release's files as name -> bytes."""
    content, first = {}, 1
    for split, count in SPLITS.items():
        dataset = annotations(first, count)
        content[f'annotations/{split}.json'] = json.dumps(dataset).encode()
        first += count
    for image_id in range(1, first):
        content[f'images/{image_id}.png'] = picture(image_id)
    return content


def tar_gz(members):
    """Pack name -> bytes, or (TarInfo, bytes) pairs, into a tar.gz."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w:gz') as tar:
        pairs = members.items() if isinstance(members, dict) else members
        for entry, data in pairs:
            if isinstance(entry, str):
                entry = tarfile.TarInfo(entry)
            if data is not None:
                entry.size = len(data)
            tar.addfile(entry, None if data is None else io.BytesIO(data))
    return stream.getvalue()


def sha256(data):
    return hashlib.sha256(data).hexdigest()
