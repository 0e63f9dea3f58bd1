"""The JSON record of one inference benchmark, and its text."""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional

from mmdet_cppe5.benchmark.statistics import mean_interval, summarise

KIND = 'mmdet-cppe5/inference-benchmark'
VERSION = 1


def inference_record(
    *,
    model: dict[str, Any],
    settings: dict[str, Any],
    measured: dict[str, Any],
    machine: dict[str, Any],
    software: dict[str, str],
) -> dict[str, Any]:
    """Put everything that makes one speed traceable into one dict.

    Args:
        model: name, config and checkpoint with their digests, sizes.
        settings: fields of :class:`BenchmarkSettings` plus ``num_warmup`` and
            ``threads``.
        measured: what ``InferenceBenchmark.run`` returned.
        machine: from ``context.machine``.
        software: from ``context.software``.

    Returns:
        A dict for JSON. Times are milliseconds per image, ``fps`` images
        per second, memory MiB; ``input_sizes`` counts [width, height] of
        the padded network input over the images timed.
    """
    passes = measured['samples']
    loading = settings['include_loading']
    times = [t for samples in passes for t in samples.per_image(loading)]
    sizes: Counter[tuple[int, int]] = Counter()
    for samples in passes:
        sizes.update(samples.input_sizes)
    return {
        'kind': KIND,
        'version': VERSION,
        'model': model,
        'settings': {
            **settings,
            'repeats': len(passes),
            'images_per_repeat': sum(passes[0].images),
            'input_sizes': [
                {'size': list(size), 'images': count}
                for size, count in sorted(sizes.items())
            ],
        },
        'fps': {
            'mean': measured['avg_fps'],
            'repeats': measured['fps_list'],
            'interval_95': mean_interval(measured['fps_list']),
        },
        'ms_per_image': summarise(times).as_dict(),
        'stages_ms_per_image': {
            stage: summarise(
                [t for samples in passes for t in samples.stages[stage]]
            ).as_dict()
            for stage in passes[0].stages
        },
        'memory_mib': {
            'device_peak': measured['device_peak_mib'],
            'host_peak': measured['host_peak_mib'],
        },
        'machine': machine,
        'software': software,
    }


def input_size_text(settings: dict[str, Any]) -> str:
    """Say the network's input size, or the range of sizes, in words."""
    sizes = [tuple(entry['size']) for entry in settings['input_sizes']]
    if len(sizes) == 1:
        return '{}x{}'.format(*sizes[0])
    widths, heights = zip(*sizes)
    return (
        f'{len(sizes)} sizes, {min(widths)}-{max(widths)} x '
        f'{min(heights)}-{max(heights)}'
    )


def _number(value: Optional[float], unit: str) -> str:
    return '-' if value is None else f'{value:,.1f} {unit}'


def _cost_rows(record: dict[str, Any]) -> list[tuple[str, str]]:
    model, memory = record['model'], record['memory_mib']
    macs = model.get('macs')
    return [
        ('peak memory, device', _number(memory['device_peak'], 'MiB')),
        ('peak memory, host', _number(memory['host_peak'], 'MiB')),
        (
            'parameters',
            f'{model["trainable_parameters"] / 1e6:.3f} M trained, '
            f'{model["parameters"] / 1e6:.3f} M in all',
        ),
        (
            'multiply-adds',
            model.get('macs_note') or '-'
            if macs is None
            else f'{macs / 1e9:.2f} G at 3x800x1280',
        ),
    ]


def _setting_rows(record: dict[str, Any]) -> list[tuple[str, str]]:
    settings, model = record['settings'], record['model']
    extras = [
        name
        for name in ('channels_last', 'compile', 'fuse_conv_bn')
        if settings[name]
    ]
    return [
        ('device', record['machine']['device_name']),
        ('threads', str(settings['threads'])),
        ('precision', settings['precision']),
        ('batch size', str(settings['batch_size'])),
        ('network input', input_size_text(settings)),
        ('weights', model['weights']),
        ('also', ', '.join(extras) or '-'),
        (
            'images',
            f'{settings["images_per_repeat"]} timed x '
            f'{settings["repeats"]} repeats, after '
            f'{settings["num_warmup"]} iterations of warm-up',
        ),
    ]


def _speed_rows(record: dict[str, Any]) -> list[tuple[str, str]]:
    fps, total = record['fps'], record['ms_per_image']
    interval = fps['interval_95']
    spread = (
        'one repeat, no interval'
        if interval is None
        else '95 % interval {:.2f} to {:.2f}'.format(*interval)
    )
    rows = [('FPS', f'{fps["mean"]:.2f} img/s ({spread})')]
    stages = {'total': total, **record['stages_ms_per_image']}
    for name, times in stages.items():
        rows.append(
            (
                f'{name}, ms/img',
                f'median {times["median"]:.2f}, p90 {times["p90"]:.2f}, '
                f'p99 {times["p99"]:.2f}',
            )
        )
    rows.append(
        (
            'outliers',
            f'{total["outliers"]} of {total["count"]} iterations '
            f'(kept; slowest {total["max"]:.2f} ms/img)',
        )
    )
    return rows


def record_text(record: dict[str, Any]) -> str:
    """Return the record as a table for the terminal."""
    rows = [
        *_setting_rows(record),
        *_speed_rows(record),
        *_cost_rows(record),
    ]
    width = max(len(name) for name, _ in rows)
    counted = (
        'loading counted'
        if record['settings']['include_loading']
        else 'loading not counted, as in MMDetection'
    )
    head = f'{record["model"]["name"]} ({counted})'
    return '\n'.join(
        [head, *(f'  {name:<{width}}  {value}' for name, value in rows)]
    )
