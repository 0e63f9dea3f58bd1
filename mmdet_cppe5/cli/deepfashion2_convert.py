"""Convert raw DeepFashion2 annotations to the COCO form.

Reads the folders of a split as they come in its archive, 'annos' and 'image',
and keeps scale, occlusion, zoom-in, viewpoint and source of every item beside
style and pair. The training set takes minutes on several cores.
"""

from __future__ import annotations

import argparse

from mmdet_cppe5.deepfashion2.convert import convert
from mmdet_cppe5.deepfashion2.landmarks import visible_only
from mmdet_cppe5.deepfashion2.query_and_gallery import queries_and_gallery
from mmdet_cppe5.files import read_json, write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``mmdet-cppe5 deepfashion2-convert`` understands."""
    parser.add_argument(
        'annotations', metavar='DIR', help='folder of the raw JSON files'
    )
    parser.add_argument(
        'images', metavar='DIR', help='folder of the image files'
    )
    parser.add_argument(
        '--out',
        metavar='FILE',
        required=True,
        help='the COCO annotation file to write',
    )
    parser.add_argument(
        '--visible-out',
        metavar='FILE',
        help='write the ground truth of the visible landmarks too: occluded '
        'ones become (0, 0, 0) and num_keypoints is counted again',
    )
    parser.add_argument(
        '--queries-out',
        metavar='FILE',
        help='write the query file of consumer-to-shop retrieval too',
    )
    parser.add_argument(
        '--gallery-out', metavar='FILE', help='write its gallery file too'
    )
    parser.add_argument(
        '--workers', type=int, metavar='N', help='processes (default: cores)'
    )


def run(args: argparse.Namespace) -> int:
    """Convert, and derive what else was asked for."""
    done = convert(args.annotations, args.images, args.out, args.workers)
    print(
        f'Wrote {args.out}: {done.images:,} images, {done.empty:,} of them '
        f'without items; {done.items:,} items, {done.unlabelled:,} of them '
        f'without landmarks and {done.flat:,} with a box of no width or height'
    )
    if args.visible_out or args.queries_out or args.gallery_out:
        _derive(args, read_json(args.out, 'a COCO annotation file'))
    return 0


def _derive(args: argparse.Namespace, coco: dict) -> None:
    """Write the files that are made of the converted annotations."""
    if args.visible_out:
        visible = visible_only(coco, args.out)
        write_json(args.visible_out, visible)
        counts = [item['num_keypoints'] for item in visible['annotations']]
        print(
            f'Wrote {args.visible_out}: {counts.count(0):,} items without '
            'visible landmarks'
        )
    if args.queries_out or args.gallery_out:
        queries, gallery = queries_and_gallery(coco)
        for path, rows, what in (
            (args.queries_out, queries, 'query'),
            (args.gallery_out, gallery, 'gallery'),
        ):
            if path:
                write_json(path, rows)
                print(f'Wrote {path}: {len(rows):,} {what} items')
