"""Break JSON files at random and give them to every command that reads them.

Each round takes a valid file of a small invented data set, changes one to
three of its values (dropped, of another type, null, nested, not a number,
huge, repeated) and runs a command on it. Right are exit codes 0 to 2 and one
sentence; wrong is a traceback, a crash, over five seconds of a core or
over 1 GiB. What
was wrong is kept with the seed that makes it again.

    python scripts/fuzz_inputs.py --minutes 20
    python scripts/fuzz_inputs.py --seed 4711 --rounds 1
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mmdet_cppe5.cli.main import main as run_command

SECONDS = 5.0
MEBIBYTES = 1024

_SQUARE = [[10, 10, 60, 10, 60, 50, 10, 50]]
_RLE = {'size': [120, 160], 'counts': [1000, 50, 70, 50, 18030]}

# command -> its words; GT and DT stand for the broken or whole files.
COMMANDS = {
    'evaluate': 'evaluate GT DT --no-ci',
    'evaluate-all': 'evaluate GT DT --resamples 20 --json OUT',
    'evaluate-segm': 'evaluate GT DT --iou-type segm --no-ci',
    'evaluate-keypoints': 'evaluate GT DT --iou-type keypoints --sigmas 0.1 '
    '0.1 --no-ci',
    'compare': 'compare GT DT OTHER --resamples 20',
    'report': 'report GT DT --resamples 0 --out OUT',
    'verify': 'verify GT --no-duplicates',
    'verify-two': 'verify GT WHOLE --no-duplicates --json OUT',
    'fix': 'verify GT --fix OUT --allow-empty',
    'stats': 'stats GT --json OUT',
    'split': 'split GT --out-dir OUTDIR --allow-empty',
    'to-yolo': 'convert to-yolo GT OUTDIR --split val --allow-empty',
    'from-ultralytics': 'convert from-ultralytics DT GT --out OUT '
    '--allow-empty',
}
# Loading their drawings takes most of a second; they get fewer rounds.
_SLOW = {'report': 0.1, 'compare': 0.5, 'evaluate-all': 0.5}

_STRANGE: list[Callable[[random.Random], Any]] = [
    lambda rng: None,
    lambda rng: rng.choice([True, False]),
    lambda rng: rng.choice(['', 'text', '7', "b'abc'", '\ud800', 'x' * 5000]),
    lambda rng: rng.choice([float('nan'), float('inf'), -float('inf')]),
    lambda rng: rng.choice([1e308, -1e308, 1e300, 10**400, -(10**25), 2**63]),
    lambda rng: rng.choice([0, -1, -7, 1, 0.5, 1e-300, 2**31, 2**32, 2e8]),
    lambda rng: [],
    lambda rng: {},
    lambda rng: [None, 'a', {}],
    lambda rng: {'a': [1]},
    lambda rng: [[[[1]]]],
    lambda rng: list(range(300)),
]


def truth() -> dict[str, Any]:
    """A valid ground truth with boxes, masks and keypoints."""
    return {
        'info': {'year': 2024},
        'images': [
            {'id': k, 'file_name': f'{k}.jpg', 'width': 160, 'height': 120}
            for k in (1, 2, 3)
        ],
        'annotations': [
            {
                'id': k + 1,
                'image_id': k % 3 + 1,
                'category_id': k % 2 + 1,
                'bbox': [10 + 5 * k, 10, 50, 40],
                'area': 2000,
                'iscrowd': int(k == 5),
                'segmentation': copy.deepcopy(_RLE if k % 2 else _SQUARE),
                'keypoints': [15, 15, 2, 40, 40, 1],
                'num_keypoints': 2,
            }
            for k in range(6)
        ],
        'categories': [
            {'id': 1, 'name': 'mask', 'keypoints': ['a', 'b']},
            {'id': 2, 'name': 'gloves', 'supercategory': 'hands'},
        ],
    }


def found() -> list[dict[str, Any]]:
    """Valid detections for :func:`truth`."""
    return [
        {
            'image_id': k % 3 + 1,
            'file_name': f'{k % 3 + 1}.jpg',
            'category_id': k % 2 + 1,
            'bbox': [11 + 5 * k, 10, 50, 40],
            'score': 0.9 - 0.1 * k,
            'segmentation': copy.deepcopy(_RLE if k % 2 else _SQUARE),
            'keypoints': [15, 15, 0.7, 41, 40, 0.6],
        }
        for k in range(7)
    ]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside a JSON value."""
    found = []
    if isinstance(value, dict):
        inner = list(value.items())
    else:
        inner = list(enumerate(value)) if isinstance(value, list) else []
    for key, item in inner:
        found.append((*at, key))
        found += places(item, (*at, key))
    return found


def mutate(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with one to three changes."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2, 3))):
        spots = places(value)
        if not spots:
            return rng.choice(_STRANGE)(rng)
        # Every depth alike: else most changes would be vertices of masks.
        depth = rng.choice(sorted({len(spot) for spot in spots}))
        *way, key = rng.choice([s for s in spots if len(s) == depth])
        parent = value
        for step in way:
            parent = parent[step]
        _change(parent, key, rng)
    return rng.choice(_STRANGE)(rng) if rng.random() < 0.01 else value


def _change(parent: Any, key: Any, rng: random.Random) -> None:
    kind = rng.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1:
        parent[key] = [parent[key]]
    elif kind == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif kind == 3 and isinstance(parent[key], (int, float)):
        parent[key] = str(parent[key])
    elif kind == 4 and isinstance(parent, dict):
        parent[rng.choice(('id', 'bbox', 'score', 'name', 'odd'))] = parent[
            key
        ]
    else:
        parent[key] = rng.choice(_STRANGE)(rng)


def text_of(value: Any, rng: random.Random) -> bytes:
    """Return a value as JSON text, seldom cut short or not UTF-8."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    data = text.encode('utf-8', 'surrogatepass')
    if rng.random() < 0.02:
        return data[: rng.randrange(len(data) + 1)]
    return data


def one_round(seed: int, folder: Path) -> tuple[str, str]:
    """Break a file, run a command; return the command and what was wrong."""
    rng = random.Random(seed)
    weights = [_SLOW.get(name, 1) for name in COMMANDS]
    (name,) = rng.choices(list(COMMANDS), weights)
    words = COMMANDS[name].split()
    break_found = 'DT' in words and rng.random() < 0.5
    whole = {'GT': truth(), 'DT': found()}
    broken = 'DT' if break_found else 'GT'
    texts = {key: json.dumps(value).encode() for key, value in whole.items()}
    texts['OTHER'], texts['WHOLE'] = texts['DT'], texts['GT']
    texts[broken] = text_of(mutate(whole[broken], rng), rng)
    for key, text in texts.items():
        (folder / key).write_bytes(text)
    inputs = {key: str(folder / key) for key in (*texts, 'OUT', 'OUTDIR')}
    return name, wrong_with([inputs.get(word, word) for word in words])


def wrong_with(words: list[str]) -> str:
    """Run a command; return what is wrong with how it ended, or ``''``."""
    out, complaint = io.StringIO(), io.StringIO()
    start = time.process_time()
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(complaint),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter('error', RuntimeWarning)
            code = run_command(words)
    except SystemExit as error:
        return f'SystemExit {error.code}'
    except Exception:
        return traceback.format_exc()
    taken = time.process_time() - start
    said = complaint.getvalue()
    if taken > SECONDS:
        return f'{taken:.1f} s'
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10 > MEBIBYTES:
        return 'over 1 GiB'
    for text in (said, out.getvalue()):
        try:
            text.encode()
        except UnicodeEncodeError:
            return f'text that cannot be printed: {text!a:.200}'
    errors = [
        line for line in said.splitlines() if line.startswith('mmdet-cppe5 ')
    ]
    if code == 2 and len(errors) != 1:
        return f'{len(errors)} sentences: {said!r:.300}'
    if any('Expected' not in line or len(line) > 1200 for line in errors):
        return f'no clear sentence: {said!r:.600}'
    return '' if code in (0, 1, 2) else f'exit code {code}'


def main() -> int:
    """Run rounds until the time is up; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--minutes', type=float, default=1.0)
    parser.add_argument('--rounds', type=int, default=sys.maxsize)
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args()
    end = time.monotonic() + 60 * args.minutes
    counts: Counter[str] = Counter()
    wrong: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for seed in range(args.seed, args.seed + args.rounds):
            if time.monotonic() > end:
                break
            command, fault = one_round(seed, Path(name))
            counts[command] += 1
            if fault:
                key = f'{command}: {fault.strip()[-400:]}'
                wrong.setdefault(key, []).append(seed)
    print(f'{sum(counts.values()):,} mutations: {dict(counts)}')
    for fault, seeds in wrong.items():
        print(f'\n{len(seeds)} times, such as --seed {seeds[0]}: {fault}')
    return int(bool(wrong))


if __name__ == '__main__':
    raise SystemExit(main())
