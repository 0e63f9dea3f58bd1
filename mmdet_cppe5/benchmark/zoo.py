"""Every config in one run, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from mmdet_cppe5.core.settings import listed
from mmdet_cppe5.files import write_json
from mmdet_cppe5.paths import config_root


def config_files(names: Sequence[str] = ()) -> list[Path]:
    """Return configs of ``configs/cppe5``, sorted by name.

    Args:
        names: file names without ``.py``; all configs if empty.

    Raises:
        ValueError: if there is no config of some name.
    """
    files = {p.stem: p for p in (config_root() / 'cppe5').glob('*.py')}
    unknown = sorted(set(names) - set(files))
    if unknown:
        raise ValueError(
            'Expected names of configs in configs/cppe5, but got '
            f'{listed(unknown)}; there are {listed(sorted(files))}.'
        )
    return [files[name] for name in sorted(names or files)]


def run_every_config(
    command: Sequence[str],
    arguments: Sequence[str],
    out_dir: Optional[Path],
    names: Sequence[str] = (),
) -> int:
    """Benchmark each config; one that fails does not stop the others.

    A process for each keeps the peaks of memory apart and survives a crash.
    Records appear as they are measured; ``summary.json`` is rewritten after
    each model.

    Args:
        command: how to start the benchmark of one config.
        arguments: its options.
        out_dir: where the records go.
        names: which configs; all if empty.

    Returns:
        0 if all went well, 1 if a model failed.

    Raises:
        ValueError: if no ``out_dir`` is given.
    """
    if out_dir is None:
        raise ValueError('--all writes many records; give --out-dir.')
    outcomes: dict[str, dict[str, object]] = {}
    for config in config_files(names):
        started = time.monotonic()
        done = subprocess.run(
            [*command, str(config), '--task', 'inference', *arguments],
            stderr=subprocess.PIPE,
            text=True,
        )
        failed = done.returncode != 0
        lines = done.stderr.strip().splitlines()
        outcomes[config.stem] = {
            'ok': not failed,
            'seconds': round(time.monotonic() - started, 1),
            'error': lines[-1] if failed and lines else None,
        }
        if failed:
            sys.stderr.write(done.stderr[-2000:])
        write_json(out_dir / 'summary.json', outcomes, indent=1)
    return int(not all(outcome['ok'] for outcome in outcomes.values()))
