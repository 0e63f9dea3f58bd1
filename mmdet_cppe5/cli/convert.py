"""Convert data sets to the official COCO form of CPPE-5, and to YOLO.

What is left out or altered is printed by reason; --report writes it item by
item. from-ultralytics makes COCO results of a YOLO model's predictions.json,
which 'mmdet-cppe5 evaluate' then takes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.cli.coco_inputs import print_notices
from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.data.convert.conversion import Conversion
from mmdet_cppe5.files import read_json, write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one subparser for each conversion."""
    kinds = parser.add_subparsers(dest='kind', required=True, metavar='KIND')
    for name, add, text in (
        ('from-parquet', _add_parquet, 'Hugging Face parquet -> COCO'),
        ('from-yolo', _add_yolo, 'YOLO labels -> COCO'),
        ('from-voc', _add_voc, 'Pascal VOC XML -> COCO'),
        ('to-yolo', _add_to_yolo, 'COCO -> YOLO labels'),
        (
            'from-ultralytics',
            _add_ultralytics,
            'Ultralytics predictions.json -> COCO results',
        ),
    ):
        kind = kinds.add_parser(name, help=text, description=text)
        add(kind)
        kind.add_argument(
            '--report',
            metavar='FILE',
            help='write what was dropped or changed, item by item, as JSON',
        )
        kind.add_argument(
            '--allow-empty',
            action='store_true',
            help='no error if no object is left, or less than half of them',
        )


def run(args: argparse.Namespace) -> int:
    """Convert, write, and say what was lost."""
    conversion = args.convert(args)
    if not args.allow_empty:
        conversion.check_loss()
    for remark in conversion.remarks:
        print(remark)
    if args.out_file is not None:
        write_json(args.out_file, conversion.content)
        print(f'wrote {args.out_file}: {_counts(conversion.content)}')
    else:
        print(f'wrote {Path(args.folder) / "data.yaml"}')
    for line in conversion.summary():
        print(line)
    if not conversion.notes:
        print('nothing dropped, nothing changed')
    if args.report:
        write_json(args.report, conversion.report(), indent=1)
    return 0


def _counts(content: object) -> str:
    if isinstance(content, dict):
        return ', '.join(
            (
                counted(len(content['images']), 'image'),
                counted(len(content['annotations']), 'box', 'boxes'),
                counted(len(content['categories']), 'class', 'classes'),
            )
        )
    return counted(len(content), 'detection')  # type: ignore[arg-type]


def _out(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        '--out',
        dest='out_file',
        metavar='FILE',
        required=True,
        help=f'the {what} to write',
    )


def _add_parquet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'files',
        nargs='+',
        metavar='FILE.parquet',
        help="one split's parquet files, in order",
    )
    parser.add_argument(
        '--images',
        required=True,
        metavar='DIR',
        help='folder to write the images to',
    )
    parser.add_argument(
        '--classes',
        metavar='NAME',
        nargs='+',
        help="class names in order (default: the files' own)",
    )
    _out(parser, 'COCO annotation file')
    parser.set_defaults(convert=_parquet)


def _parquet(args: argparse.Namespace) -> Conversion:
    from mmdet_cppe5.data.convert.parquet import parquet_to_coco

    return parquet_to_coco(args.files, args.images, args.classes)


def _add_yolo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('data', metavar='DATA.yaml', help='the data.yaml')
    parser.add_argument(
        '--split',
        required=True,
        metavar='SPLIT',
        help='the split in it, such as val',
    )
    _out(parser, 'COCO annotation file')
    parser.set_defaults(convert=_yolo)


def _yolo(args: argparse.Namespace) -> Conversion:
    from mmdet_cppe5.data.convert.yolo import yolo_to_coco

    return yolo_to_coco(args.data, args.split)


def _add_voc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'annotations', metavar='DIR', help='folder of the XML files'
    )
    parser.add_argument(
        '--images', metavar='DIR', help='folder of the image files'
    )
    parser.add_argument(
        '--names', metavar='FILE', help='convert only the names in this list'
    )
    parser.add_argument(
        '--classes',
        metavar='NAME',
        nargs='+',
        default=CLASSES,
        help="class names in order (default: CPPE-5's)",
    )
    parser.add_argument(
        '--first-pixel',
        type=int,
        choices=(0, 1),
        default=1,
        help="number of an image's first pixel (default: 1, as VOC has it)",
    )
    _out(parser, 'COCO annotation file')
    parser.set_defaults(convert=_voc)


def _voc(args: argparse.Namespace) -> Conversion:
    from mmdet_cppe5.data.convert.voc import voc_to_coco

    names = None
    if args.names:
        words = map(str.split, Path(args.names).read_text().splitlines())
        names = [line[0] for line in words if line]
    return voc_to_coco(
        args.annotations, args.classes, args.images, args.first_pixel, names
    )


def _add_to_yolo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'annotations',
        metavar='ANNOTATIONS.json',
        help='the COCO annotation file',
    )
    parser.add_argument(
        'folder', metavar='DIR', help='folder of the YOLO data set'
    )
    parser.add_argument(
        '--split', required=True, choices=('train', 'val', 'test')
    )
    parser.add_argument(
        '--images',
        metavar='DIR',
        help='folder of the image files, to be linked',
    )
    parser.add_argument(
        '--copy', action='store_true', help='copy the images, do not link'
    )
    parser.set_defaults(convert=_to_yolo, out_file=None)


def _to_yolo(args: argparse.Namespace) -> Conversion:
    from mmdet_cppe5.data.convert.to_yolo import coco_to_yolo
    from mmdet_cppe5.data.dataset_file import read_dataset

    dataset, notices = read_dataset(args.annotations)
    print_notices(notices)
    return coco_to_yolo(
        dataset,
        args.folder,
        args.split,
        args.images,
        args.copy,
        args.allow_empty,
    )


def _add_ultralytics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        'predictions',
        metavar='PREDICTIONS.json',
        help='the predictions.json',
    )
    parser.add_argument(
        'annotations', metavar='GT.json', help='the COCO ground truth'
    )
    parser.add_argument(
        '--data',
        metavar='DATA.yaml',
        help='data.yaml with the class names (default: the classes of the '
        'ground truth by ascending id)',
    )
    parser.add_argument(
        '--categories',
        choices=('number-from-1', 'number-from-0', 'id'),
        help='what category_id is: the number of a class, from 1 (current '
        'Ultralytics releases) or from 0 (older ones), or the id that the '
        'ground truth has (default: found out and printed)',
    )
    _out(parser, 'COCO result file')
    parser.set_defaults(convert=_ultralytics)


def _ultralytics(args: argparse.Namespace) -> Conversion:
    from mmdet_cppe5.data.convert.ultralytics import ultralytics_to_results
    from mmdet_cppe5.data.convert.yolo_layout import (
        class_names,
        read_data_yaml,
    )
    from mmdet_cppe5.data.dataset_file import read_dataset

    dataset, notices = read_dataset(args.annotations)
    print_notices(notices)
    names = None
    if args.data:
        names = class_names(read_data_yaml(args.data), args.data)
    return ultralytics_to_results(
        read_json(args.predictions, 'Ultralytics predictions'),
        dataset,
        names,
        args.categories,
    )
