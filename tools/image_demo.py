"""Detect on your own photos: drawn pictures, a JSON, a page to look at.

python tools/image_demo.py PHOTOS ... CONFIG CHECKPOINT [--out-dir DIR]

PHOTOS are image files, folders (every file in them is tried) or videos. In
DIR appear ``pictures/`` with the boxes drawn, ``results.bbox.json`` in COCO's
result form with ``images.json`` that names its image ids and categories, and
``index.html``, a page that needs nothing else. What cannot be read is listed
at the end.
"""

import argparse
import sys
import warnings
from pathlib import Path

import cv2
import mmcv
import numpy as np
from mmdet.apis import DetInferencer
from PIL import Image

import mmdet_cppe5.plugin  # noqa: F401  (registers, makes loading safe)
from mmdet_cppe5.files import atomic_path, write_json, write_text
from mmdet_cppe5.reports.demo_page import SHOWN, DemoPhoto, demo_page
from mmdet_cppe5.reports.page import render, require_jinja
from mmdet_cppe5.reports.photos import jpeg_address

VIDEOS = {'.mp4', '.avi', '.mov', '.mkv', '.webm', '.m4v', '.mpg', '.mpeg'}


def parse_args(argv):
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('photos', nargs='+', help='files, folders or videos')
    parser.add_argument('config', help='config of the detector')
    parser.add_argument('checkpoint', help='its weights')
    parser.add_argument('--out-dir', default='outputs')
    parser.add_argument(
        '--score-thr', type=float, default=0.3, help='lowest score drawn'
    )
    parser.add_argument('--device', help='such as cpu or cuda:0')
    parser.add_argument(
        '--every', type=int, default=10, help='use every n-th video frame'
    )
    return parser.parse_args(argv)


def find_files(inputs):
    """Yield a name and a path for every file to try."""
    for item in map(Path, inputs):
        if item.is_dir():
            files = sorted(path for path in item.rglob('*') if path.is_file())
            for path in files:
                yield path.relative_to(item).as_posix(), path
        else:
            yield item.name, item


def read_frames(name, path, every):
    """Yield a name and the BGR pixels of a photo or of a video's frames.

    Raises:
        OSError: if the file cannot be read.
    """
    if path.suffix.lower() not in VIDEOS:
        pixels = mmcv.imread(path) if path.is_file() else None
        if pixels is None:
            reason = 'no image' if path.is_file() else 'no such file'
            raise OSError(reason)
        yield name, pixels
        return
    video, number = cv2.VideoCapture(str(path)), 0
    try:
        while video.grab():
            if number % every == 0:
                pixels = video.retrieve()[1]
                yield f'{name}#{number:06d}', pixels
            number += 1
    finally:
        video.release()
    if not number:
        raise OSError('no video, or of a kind that OpenCV cannot read')


def detect(inferencer, pixels, score_thr):
    """Return labels, x, y, w, h boxes, scores, and the drawn RGB picture."""
    found = inferencer(
        pixels,
        return_vis=True,
        return_datasamples=True,
        no_save_vis=True,
        pred_score_thr=score_thr,
    )
    instances = found['predictions'][0].pred_instances.cpu().numpy()
    boxes = np.asarray(instances.bboxes, dtype=float).reshape(-1, 4)
    boxes[:, 2:] -= boxes[:, :2]
    return (
        np.asarray(instances.labels, dtype=int),
        boxes,
        np.asarray(instances.scores, dtype=float),
        found['visualization'][0],
    )


def picture_path(folder, name, taken):
    """Return a free path below ``folder`` for a picture of any name."""
    stem = name.replace('/', '_').replace('#', '_frame_')
    path, number = folder / f'{stem}.jpg', 2
    while path in taken:
        path, number = folder / f'{stem}-{number}.jpg', number + 1
    taken.add(path)
    return path


def run(args, inferencer):
    """Go through all photos; return them, result entries and problems."""
    photos, entries, unreadable, taken = [], [], [], set()
    for name, path in find_files(args.photos):
        try:
            for frame, pixels in read_frames(name, path, args.every):
                labels, boxes, scores, drawn = detect(
                    inferencer, pixels, args.score_thr
                )
                out = picture_path(
                    Path(args.out_dir) / 'pictures', frame, taken
                )
                with atomic_path(out) as temporary:
                    Image.fromarray(drawn).save(temporary, quality=90)
                small = len(photos) < SHOWN
                href = jpeg_address(pixels[..., ::-1]) if small else None
                height, width = pixels.shape[:2]
                photos.append(
                    DemoPhoto(
                        frame, width, height, href, labels, boxes, scores
                    )
                )
                entries += [
                    {
                        'image_id': len(photos),
                        'category_id': int(label) + 1,
                        'bbox': box,
                        'score': float(score),
                    }
                    for label, box, score in zip(
                        labels, boxes.tolist(), scores
                    )
                ]
                number = int((scores >= args.score_thr).sum())
                print(f'{frame}: {number} detections -> {out}')
        except (OSError, cv2.error) as error:
            unreadable.append((name, str(error)))
    return photos, entries, unreadable


def main(argv):
    args = parse_args(argv)
    require_jinja()
    warnings.filterwarnings('ignore', message='.*palette.*')
    inferencer = DetInferencer(
        args.config, args.checkpoint, args.device, show_progress=False
    )
    classes = inferencer.model.dataset_meta['classes']
    photos, entries, unreadable = run(args, inferencer)
    out = Path(args.out_dir)
    write_json(out / 'results.bbox.json', entries)
    write_json(
        out / 'images.json',
        {
            'images': [
                {
                    'id': number,
                    'file_name': photo.name,
                    'width': photo.width,
                    'height': photo.height,
                }
                for number, photo in enumerate(photos, start=1)
            ],
            'categories': [
                {'id': number, 'name': name}
                for number, name in enumerate(classes, start=1)
            ],
        },
    )
    title = f'{Path(args.config).stem} on your photos'
    page = demo_page(title, classes, photos, args.score_thr, unreadable)
    write_text(out / 'index.html', render(page))
    print(f'{len(photos)} pictures; look at {out / "index.html"}')
    if unreadable:
        print(f'{len(unreadable)} files could not be read:')
        for name, reason in unreadable:
            print(f'  {name}: {reason}')
    return 0 if photos else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
