"""Turn a checkpoint released with the paper into one for MMDetection 3.x.

python tools/model_converters/upgrade_cppe5_checkpoint.py IN OUT [--config C]

IN is one of the fifteen MMDetection 2.x files. Which network it holds is told
from its tensors, unless --config names one; a file that does not fit the
config is refused. The digest in the file's name is checked. The result is for
testing and load_from, not for --resume. Nothing in the file is executed.
"""

import argparse
import logging
import re
import sys
from pathlib import Path

import torch
from mmengine.config import Config

import mmdet_cppe5.plugin  # noqa: F401
from mmdet_cppe5.engine.checkpoint import load_checkpoint_file
from mmdet_cppe5.files import atomic_path, file_digest
from mmdet_cppe5.paths import config_root, find_config
from mmdet_cppe5.zoo.complexity import build_to_count
from mmdet_cppe5.zoo.conversion import (
    convert_checkpoint,
    convert_state,
    identify,
)


def parse_args(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('source', metavar='IN', type=Path)
    parser.add_argument('target', metavar='OUT', type=Path)
    parser.add_argument('--config', metavar='C')
    return parser.parse_args(arguments)


def checked_digest(path):
    """Return the file's SHA-256, which must start as its name ends."""
    digest = file_digest(path)
    in_name = re.search(r'-([0-9a-f]{8})\.pth$', path.name)
    if in_name and not digest.startswith(in_name.group(1)):
        raise ValueError(
            f'Expected the SHA-256 of {path} to start with '
            f'{in_name.group(1)}, as its name says, but it is {digest}; the '
            'file is damaged or was renamed.'
        )
    return digest


def convert(source, target, config=None):
    """Convert a file and return the path of the config that it fits."""
    checkpoint = load_checkpoint_file(source)
    digest = checked_digest(source)
    if config is None:
        name = identify(convert_state(checkpoint.get('state_dict', {})))
        config = str(config_root() / 'cppe5' / f'{name}.py')
    config = find_config(config)
    model = build_to_count(
        Config.fromfile(config, import_custom_modules=False)
    )
    converted = convert_checkpoint(
        checkpoint,
        model,
        Path(config).stem,
        f'{source.name}, sha256 {digest}',
    )
    with atomic_path(target) as temporary:
        torch.save(converted, temporary)
    return config


def main(arguments=None):
    args = parse_args(arguments)
    logging.disable(logging.INFO)
    try:
        config = convert(args.source, args.target, args.config)
    except (ValueError, OSError) as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    print(f'{args.source} holds the network of {config}')
    print(f'wrote {args.target}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
