"""Ranking of speeds, only where they can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mmdet_cppe5.benchmark.record import KIND, VERSION
from mmdet_cppe5.files import PathLike, read_json
from mmdet_cppe5.scores.formats import Table


def read_record(path: PathLike) -> dict[str, Any]:
    """Read a benchmark's JSON.

    Raises:
        ValueError: if the file is something else.
    """
    record = read_json(path, 'a benchmark record (benchmark.py --out)')
    kind = record.get('kind') if isinstance(record, dict) else None
    if kind != KIND or record.get('version') != VERSION:
        raise ValueError(
            f'Expected a benchmark record of kind {KIND!r}, version '
            f'{VERSION}, in {Path(path)}, but it is of kind {kind!r}; write '
            'one with tools/analysis_tools/benchmark.py --out.'
        )
    return record


def comparable_fields(record: dict[str, Any]) -> dict[str, Any]:
    """Return what must be equal for two speeds to be ranked."""
    settings, machine = record['settings'], record['machine']
    gpu = machine['gpu'] or {}
    return {
        'device': machine['device_name'],
        'precision': settings['precision'],
        'TF32 in convolutions': gpu.get('tf32_cudnn'),
        'TF32 in matrix products': gpu.get('tf32_matmul'),
        'batch size': settings['batch_size'],
        'input size': settings['input_size'] or 'as the data come',
        'images': 'noise' if settings['synthetic'] else 'data set',
        # What the CPU does matters little beside a GPU.
        'threads': settings['threads'] if machine['gpu'] is None else None,
        'loading counted': settings['include_loading'],
    }


def differences(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the fields that keep records from being ranked.

    Returns:
        Field name -> its values in the order of ``records``; empty where
        the records can be compared.
    """
    fields = [comparable_fields(record) for record in records]
    return {
        name: [each[name] for each in fields]
        for name in fields[0]
        if any(each[name] != fields[0][name] for each in fields)
    }


def _side_notes(records: Sequence[dict[str, Any]]) -> list[str]:
    """Say what else differs: allowed, but worth knowing."""
    notes = []
    for name in ('channels_last', 'compile', 'fuse_conv_bn'):
        values = [record['settings'][name] for record in records]
        if len(set(values)) > 1:
            notes.append(f'{name} differs: {values}')
    for name in records[0]['software']:
        versions = [record['software'].get(name) for record in records]
        if len(set(versions)) > 1:
            notes.append(f'{name} version differs: {versions}')
    if any(record['model']['weights'] == 'random' for record in records):
        notes.append(
            'random weights: few boxes reach post-processing, which '
            'takes longer with a trained model'
        )
    return notes


def require_comparable(records: Sequence[dict[str, Any]]) -> None:
    """Refuse records that were not measured alike.

    Raises:
        ValueError: naming each field that differs and its values.
    """
    unequal = differences(records) if records else {}
    if not unequal:
        return
    names = [record['model']['name'] for record in records]
    lines = [
        f'  {field}: '
        + ', '.join(f'{name} {value}' for name, value in zip(names, values))
        for field, values in unequal.items()
    ]
    raise ValueError(
        'These speeds cannot be ranked, since they were measured under '
        'different conditions:\n' + '\n'.join(lines)
    )


def ranking_text(records: Sequence[dict[str, Any]]) -> str:
    """Rank records by FPS.

    Raises:
        ValueError: if fewer than two are given, or if they differ in a
            field that makes their speeds incomparable; the message names
            each field and the values.
    """
    if len(records) < 2:
        raise ValueError(
            f'Expected two or more records to compare, got {len(records)}.'
        )
    require_comparable(records)
    rows = []
    for record in sorted(records, key=lambda record: -record['fps']['mean']):
        interval = record['fps']['interval_95']
        rows.append(
            [
                record['model']['name'],
                f'{record["fps"]["mean"]:.2f}',
                '{:.2f} to {:.2f}'.format(*interval) if interval else '-',
                f'{record["ms_per_image"]["median"]:.2f}',
            ]
        )
    header = ['model', 'FPS', '95 % interval', 'ms/img']
    lines = [Table(header, rows).write()]
    lines += [f'note: {note}' for note in _side_notes(records)]
    return '\n'.join(lines)
