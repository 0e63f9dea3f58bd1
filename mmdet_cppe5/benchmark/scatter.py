"""Speed against accuracy, from records of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mmdet_cppe5.benchmark.compare import require_comparable
from mmdet_cppe5.files import PathLike, atomic_path, read_json
from mmdet_cppe5.scores.documents import EVALUATION_SCHEMA


def read_scores(path: PathLike) -> dict[str, Any]:
    """Read what ``evaluate --json`` or ``CPPE5Metric`` wrote.

    Raises:
        ValueError: if the file is something else.
    """
    what = 'scores (mmdet-cppe5 evaluate --json)'
    scores = read_json(path, what)
    schema = scores.get('schema') if isinstance(scores, dict) else None
    if schema != EVALUATION_SCHEMA:
        raise ValueError(
            f'Expected {what} of schema {EVALUATION_SCHEMA!r} in {path}, but '
            f'its schema is {schema!r}.'
        )
    return scores


def draw_scatter(
    records: Sequence[dict[str, Any]],
    scores: Mapping[str, dict[str, Any]],
    path: PathLike,
) -> None:
    """Write a picture of AP against milliseconds per image.

    Args:
        records: inference benchmarks that can be compared.
        scores: model name -> its scores; names are those of the records.
        path: picture to write; its ending decides the format.

    Raises:
        ValueError: if the speeds cannot be compared, or a model lacks its
            scores.
    """
    from mmdet_cppe5.figures.models import speed_accuracy

    require_comparable(records)
    names = [record['model']['name'] for record in records]
    missing = sorted(set(names) - set(scores))
    if missing:
        raise ValueError(
            f'Expected scores of {names}, but {missing} have none; add '
            "'--scores NAME=JSON' for each."
        )
    overall = [scores[name]['overall']['AP'] for name in names]
    intervals = [scores[name].get('intervals') for name in names]
    ends = None
    if all(intervals):
        ends = np.array(
            [
                [each['overall']['AP'][end] for end in ('low', 'high')]
                for each in intervals
                if each
            ]
        )
    drawing = speed_accuracy(
        names,
        np.array(overall) / 100,
        np.array([record['ms_per_image']['median'] for record in records]),
        None if ends is None else ends / 100,
    )
    with atomic_path(path) as temporary:
        drawing.figure.savefig(temporary, dpi=200)
