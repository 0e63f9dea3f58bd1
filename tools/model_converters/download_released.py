"""Fetch checkpoints that the paper's authors released.

python tools/model_converters/download_released.py MODEL [MODEL ...] [--dir D]

A MODEL is a config's name, such as faster_rcnn. A broken download goes on
where it stopped, and the file gets its name only when its digest is right.
"""

import argparse
import sys

from mmdet_cppe5.download import download
from mmdet_cppe5.zoo.metafile import find_model

BUCKET = """\
The bucket cppe-5 on storage.googleapis.com has been "requester pays" since
2023, which the data set's files showed, so it probably refuses everyone who
does not name a Google Cloud project to bill. With a project of yours:
    gsutil -u PROJECT cp gs://{path} {folder}/"""


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('models', nargs='+', metavar='MODEL')
    parser.add_argument('--dir', default='work_dirs/released', metavar='D')
    args = parser.parse_args(arguments)
    failed = 0
    for name in args.models:
        failed += fetch(name, args.dir)
    return 1 if failed else 0


def fetch(name, folder):
    """Fetch one model's file and return whether that failed."""
    try:
        released = find_model(name).released
        if released is None:
            raise KeyError(f'No MMDetection checkpoint of {name} exists.')
        path = download(
            released,
            folder,
            report=lambda sentence: print(sentence, file=sys.stderr),
        )
    except KeyError as error:
        print(f'error: {error.args[0]}', file=sys.stderr)
        return True
    except ConnectionError as error:
        path = released.urls[0].partition('storage.googleapis.com/')[2]
        print(f'error: {error}', file=sys.stderr)
        print(BUCKET.format(path=path, folder=folder), file=sys.stderr)
        return True
    print(path)
    if not released.has_digest:
        print(f'No digest of {path.name} was published: not checked.')
    return False


if __name__ == '__main__':
    sys.exit(main())
