"""Four invented images with ten objects, as a tool might export them."""

import contextlib
import copy
import io
import json

from pycocotools import mask as mask_api
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from mmdet_cppe5.cli.main import main

WIDTH, HEIGHT = 320, 240
NAMES = ('mask', 'gloves', 'goggles')

# image, class, x, y, width, height
_OBJECTS = [
    (1, 1, 12, 20, 40, 30), (1, 2, 100, 40, 60, 80), (1, 3, 180, 30, 90, 180),
    (2, 1, 20, 24, 18, 20), (2, 2, 150, 100, 30, 40), (3, 3, 50, 20, 110, 200),
    (3, 2, 200, 50, 24, 16), (3, 1, 250, 150, 14, 14), (4, 2, 30, 100, 50, 50),
    (4, 3, 130, 10, 100, 210),
]  # fmt: skip
# the same, moved, and a score
_FOUND = [
    (1, 1, 13, 21, 40, 30, 0.95), (1, 2, 106, 44, 60, 80, 0.9),
    (1, 3, 186, 40, 90, 170, 0.8), (2, 1, 23, 27, 18, 20, 0.7),
    (2, 2, 151, 101, 30, 40, 0.85), (2, 2, 5, 190, 30, 40, 0.6),
    (3, 3, 50, 20, 110, 200, 0.99), (3, 2, 201, 51, 24, 16, 0.55),
    (3, 1, 60, 60, 14, 14, 0.5), (4, 2, 30, 100, 50, 50, 0.97),
    (4, 3, 136, 20, 100, 200, 0.65), (4, 1, 150, 150, 20, 20, 0.3),
]  # fmt: skip


def outline(x, y, w, h):
    """A rectangle as the polygon that COCO would draw around it."""
    return [x, y, x + w, y, x + w, y + h, x, y + h]


def compressed(*box):
    """A rectangle as compressed run lengths."""
    code = mask_api.frPyObjects([outline(*box)], HEIGHT, WIDTH)[0]
    return {'size': [HEIGHT, WIDTH], 'counts': code['counts'].decode()}


def counted(*box):
    """A rectangle of whole numbers as run lengths in a list."""
    x, y, w, h = box
    counts = [x * HEIGHT + y]
    for _ in range(w - 1):
        counts += [h, HEIGHT - h]
    counts += [h, WIDTH * HEIGHT - sum(counts) - h]
    return {'size': [HEIGHT, WIDTH], 'counts': counts}


def truth(masks=None):
    """The ground truth; ``masks`` turns a box into a segmentation."""
    annotations = []
    for number, (image, label, *box) in enumerate(_OBJECTS, start=1):
        item = {
            'id': number,
            'image_id': image,
            'category_id': label,
            'bbox': box,
            'area': box[2] * box[3],
            'iscrowd': 0,
        }
        if masks:
            item['segmentation'] = masks(*box)
        annotations.append(item)
    return {
        'images': [
            {
                'id': key,
                'file_name': f'shot_{key}.jpg',
                'width': WIDTH,
                'height': HEIGHT,
            }
            for key in (1, 2, 3, 4)
        ],
        'annotations': annotations,
        'categories': [
            {'id': key, 'name': name} for key, name in enumerate(NAMES, 1)
        ],
    }


def found(masks=None):
    """The detections; ``masks`` as for :func:`truth`."""
    entries = []
    for image, label, *box, score in _FOUND:
        item = {
            'image_id': image,
            'category_id': label,
            'bbox': box,
            'score': score,
        }
        if masks:
            item['segmentation'] = masks(*box)
        entries.append(item)
    return entries


def outlines(*box):
    """A rectangle as a list of one polygon."""
    return [outline(*box)]


def judged(data, entries, iou_type='bbox'):
    """COCO's twelve numbers by pycocotools itself, 0 to 100."""
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = copy.deepcopy(data)
        coco.createIndex()
        evaluator = COCOeval(
            coco, coco.loadRes(copy.deepcopy(entries)), iou_type
        )
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return 100 * evaluator.stats


class Folder:
    """Writes inputs and runs commands on them."""

    def __init__(self, path, capsys):
        self.path = path
        self._capsys = capsys

    def write(self, name, value):
        """Write a JSON value, or text as it is; return the path."""
        text = value if isinstance(value, str) else json.dumps(value)
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding='utf-8')
        return str(target)

    def run(self, *words):
        """Run a subcommand; return its exit code, output and complaints."""
        code = main([str(word) for word in words])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def sentence(self, *words, code=2):
        """Run a subcommand that must fail with one sentence; return it."""
        got, _, complaint = self.run(*words)
        assert got == code, complaint
        assert 'Traceback' not in complaint
        (line,) = [
            line
            for line in complaint.splitlines()
            if line.startswith(f'mmdet-cppe5 {words[0]}: ')
        ]
        return line.split(': ', 1)[1]

    def scores(self, data, entries, *options):
        """Evaluate; return the JSON's overall scores and the complaints."""
        gt, dt = self.write('gt.json', data), self.write('dt.json', entries)
        out = self.path / 'scores.json'
        code, _, complaint = self.run(
            'evaluate', gt, dt, '--json', out, '--no-ci', *options
        )
        assert code == 0, complaint
        return json.loads(out.read_text())['overall'], complaint
