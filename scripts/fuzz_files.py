"""Break checkpoints, archives and images at random and read them.

Each round takes a valid small file, flips, cuts, repeats or joins some of
its bytes (for checkpoints also steps of the pickle inside, with the zip
archive written anew), and reads it. Right are data or one sentence; wrong is
any other exception, a crash, over two seconds of a core or 500 MiB more.
What was wrong is kept with the seed that makes it again.

    python scripts/fuzz_files.py checkpoints --minutes 20
    python scripts/fuzz_files.py archives --seed 4711 --rounds 1
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import logging
import random
import resource
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from pathlib import Path

SECONDS = 2.0
MEBIBYTES = 500


class Checkpoints:
    """Files of ``torch.save`` in both forms."""

    def __init__(self):
        import numpy as np
        import torch
        from mmengine.logging import HistoryBuffer, MessageHub

        from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
        from mmdet_cppe5.engine.config_text import inert_text

        logging.disable(logging.CRITICAL)
        with contextlib.suppress(ValueError):  # imports MMDetection
            inert_text("model = dict(type='NoSuchModel')")
        self.read = load_checkpoint_file
        hub = MessageHub('fuzz')
        hub.update_scalar('loss', 1.0)
        value = {
            'state_dict': torch.nn.BatchNorm2d(3).state_dict(),
            'meta': {'epoch': 1, 'cfg': "model = dict(type='ResNet')"},
            'message_hub': hub,
            'more': [HistoryBuffer([1.0], [1]), np.arange(3), np.float64(2),
                     np.array(['a']), torch.nn.Parameter(torch.ones(2))],
        }  # fmt: skip
        self.files = []
        for zipped in (True, False):
            stream = io.BytesIO()
            torch.save(value, stream, _use_new_zipfile_serialization=zipped)
            self.files.append(stream.getvalue())

    def broken(self, rng):
        """Return one file with damage, half of the time in the pickle."""
        data = rng.choice(self.files)
        if data[:2] != b'PK' or rng.random() < 0.3:
            return damaged(rng, data)
        stream = io.BytesIO()
        old = zipfile.ZipFile(io.BytesIO(data))
        with zipfile.ZipFile(stream, 'w') as new:
            for name in old.namelist():
                part = old.read(name)
                if name.endswith('data.pkl'):
                    part = damaged(rng, part)
                new.writestr(name, part)
        return stream.getvalue()


class Archives:
    """A ``tar.gz`` of annotations and images."""

    def __init__(self):
        from mmdet_cppe5.data.archive import unpack

        self.unpack = unpack
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode='w') as tar:
            for name, size in (
                ('annotations/train.json', 700), ('images/1.png', 3000),
                ('images/' + 'n' * 150 + '.png', 10), ('README', 5),
            ):  # fmt: skip
                info = tarfile.TarInfo(name)
                info.size = size
                tar.addfile(info, io.BytesIO(b'x' * size))
        self.file = stream.getvalue()

    def broken(self, rng):
        """Return an archive whose headers, or whose gzip, are damaged."""
        if rng.random() < 0.2:
            return damaged(rng, gzip.compress(self.file))
        data = bytearray(self.file)
        for _ in range(rng.randint(1, 6)):
            at = 512 * rng.randrange(len(data) // 512) + rng.randrange(350)
            data[at % len(data)] = rng.choice(b'0123457/\\.x\0\xff\x80')
        for start in range(0, len(data) - 511, 512):
            if data[start + 257 : start + 262] == b'ustar':
                data[start + 148 : start + 156] = b' ' * 8
                total = sum(data[start : start + 512])
                data[start + 148 : start + 156] = b'%06o\0 ' % total
        return gzip.compress(bytes(data), 1)

    def read(self, path):
        """Unpack into a folder of its own and look at what came out."""
        with tempfile.TemporaryDirectory() as folder:
            inside = Path(folder) / 'in'
            inside.mkdir()
            self.unpack(path, inside, r'[\w/]+\.(json|png)', progress=False)
            if [other.name for other in Path(folder).iterdir()] != ['in']:
                raise RuntimeError('a file outside of the folder')
            if any(other.is_symlink() for other in inside.rglob('*')):
                raise RuntimeError('a link')


class Images:
    """Small images of the formats that the package reads."""

    def __init__(self):
        from PIL import Image

        from mmdet_cppe5.images import image_size

        self.size = image_size
        self.files = []
        for kind in ('PNG', 'JPEG', 'BMP', 'GIF', 'WEBP', 'TIFF'):
            stream = io.BytesIO()
            Image.new('RGB', (40, 30), (9, 99, 200)).save(stream, kind)
            self.files.append(stream.getvalue())

    def broken(self, rng):
        """Return an image with damaged bytes."""
        return damaged(rng, rng.choice(self.files))

    def read(self, path):
        """Ask for the image's size."""
        self.size(path, 'an image')


def damaged(rng, data):
    """Flip, cut, repeat, insert or remove some of the bytes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(data)) if data else 0
        length = rng.choice((1, 1, 2, 4, 8, 40))
        step = rng.randrange(5)
        if step == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif step == 1 and rng.random() < 0.2:
            del data[at:]
        elif step == 2:
            del data[at : at + length]
        elif step == 3:
            data[at:at] = data[at : at + length] * rng.choice((1, 3, 50))
        else:
            data[at:at] = rng.choice((b'\xff' * 4, b'\x7f', b'(', b'R'))
    return bytes(data)


KINDS = {
    'checkpoints': Checkpoints, 'archives': Archives, 'images': Images,
}  # fmt: skip


def one(kind, data, path):
    """Read one broken file; return what it did, and whether that is right."""
    path.write_bytes(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        kind.read(path)
        outcome, right = 'read', True
    except (ValueError, OSError) as error:
        outcome, right = 'refused', bool(str(error))
    except Exception:
        outcome, right = traceback.format_exc(), False
    if time.process_time() - start > SECONDS:
        outcome, right = 'too slow', False
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > MEBIBYTES << 10:
        outcome, right = f'{grown >> 10:,} MiB', False
    return outcome, right


def main():
    """Run for the given time and print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('kind', choices=KINDS)
    parser.add_argument('--minutes', type=float, default=1.0)
    parser.add_argument('--rounds', type=int, help='at most this many')
    parser.add_argument('--seed', type=int, default=0, help='of round one')
    parser.add_argument('--keep', type=Path, default=Path('fuzz_failures'))
    args = parser.parse_args()
    kind, counts = KINDS[args.kind](), Counter()
    end = time.monotonic() + 60 * args.minutes
    seed = args.seed
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'file'
        while time.monotonic() < end:
            if args.rounds is not None and seed - args.seed >= args.rounds:
                break
            data = kind.broken(random.Random(seed))
            outcome, right = one(kind, data, path)
            counts[outcome if right else 'wrong'] += 1
            if not right:
                args.keep.mkdir(exist_ok=True)
                (args.keep / f'{args.kind}_{seed}').write_bytes(data)
                print(f'seed {seed}: {outcome}', flush=True)
            seed += 1
    print(f'{args.kind}: {dict(counts)}, seeds {args.seed} to {seed - 1}')
    return 1 if counts['wrong'] else 0


if __name__ == '__main__':
    sys.exit(main())
