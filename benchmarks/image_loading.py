"""Ways to get a photograph into memory, and what they do for training.

    python benchmarks/image_loading.py IMAGES [--rounds 5]

All ways run in one process on the same files, interleaved round by round;
printed are medians of the ratios to OpenCV's decoder, which MMCV uses. The
cached way is measured with all images stored already. simplejpeg takes part
where it is installed.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from mmcv.transforms import LoadImageFromFile

from mmdet_cppe5.datasets.cached_loading import LoadCachedImageFromFile


def loader(**options):
    load = LoadImageFromFile(**options)
    return lambda path: load({'img_path': str(path)})['img']


def cached(folder, paths):
    load = LoadCachedImageFromFile(budget_mib=1 << 14, folder=folder)

    def read(path):
        return load({'img_path': str(path)})['img']

    for path in paths:
        read(path)
    return read


def simplejpeg_loader():
    import simplejpeg

    def read(path):
        data = path.read_bytes()
        if simplejpeg.is_jpeg(data):
            return simplejpeg.decode_jpeg(data, colorspace='BGR')
        return fallback(path)

    fallback = loader()
    return read


def seconds(read, paths):
    started = time.perf_counter()
    for path in paths:
        read(path)
    return time.perf_counter() - started


def measure(ways, paths, rounds):
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, read in ways.items():
            times[name].append(seconds(read, paths))
    return {name: np.array(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('images', type=Path)
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    paths = sorted(p for p in args.images.iterdir() if p.is_file())
    memory = '/dev/shm' if Path('/dev/shm').is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        ways = {
            'OpenCV (MMCV default)': loader(),
            'Pillow': loader(imdecode_backend='pillow'),
            'shared-memory cache': cached(folder, paths),
        }
        try:
            ways['simplejpeg'] = simplejpeg_loader()
        except ImportError:
            print('simplejpeg is not installed: left out')
        pixels = sum(ways['OpenCV (MMCV default)'](p).size / 3 for p in paths)
        print(f'{len(paths)} images, {pixels / len(paths) / 1e6:.2f} MP each')
        times = measure(ways, paths, args.rounds)
    base = times['OpenCV (MMCV default)']
    for name, values in times.items():
        print(
            f'{name:<22} {1e3 * np.median(values) / len(paths):8.2f} ms/img'
            f'  {np.median(base / values):6.2f} x'
        )


if __name__ == '__main__':
    main()
