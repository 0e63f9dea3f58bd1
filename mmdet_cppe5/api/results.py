"""What ``evaluate`` and ``compare`` return: numbers to read and to plot."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from mmdet_cppe5 import figures
from mmdet_cppe5.core import MAIN_ERRORS, SPECIAL_ERRORS, Comparison, bootstrap
from mmdet_cppe5.scores.assessment import Assessment
from mmdet_cppe5.scores.formats import write_parts
from mmdet_cppe5.scores.groups import group_letters
from mmdet_cppe5.scores.summary import interval_points, interval_summary
from mmdet_cppe5.scores.tables import (
    assessment_parts,
    comparison_parts,
    number,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Numbers = Mapping[str, Optional[float]]


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationResult:
    """A detector's numbers in points, 0 to 100; None for undefined.

    ``result['AP']`` is a number; names are those of every other output:
    ``AP``, ``AP50``, ``APs``, ``AR100``, ...

    Attributes:
        assessment: everything behind the numbers.
        notices: sentences on what was unusual in the input.
    """

    assessment: Assessment
    notices: tuple[str, ...] = ()

    @property
    def overall(self) -> Numbers:
        """COCO's twelve numbers, means over the classes with objects."""
        return self.assessment.summary['overall']

    @property
    def per_class(self) -> Mapping[str, Numbers]:
        """Class name -> its numbers."""
        return self.assessment.summary['classes']

    @property
    def tide(self) -> Mapping[str, Any]:
        """TIDE's errors: ``delta_ap``, ``counts``, ``classes``, ..."""
        return self.assessment.summary['tide']

    def __getitem__(self, name: str) -> Optional[float]:
        """Return one of the overall numbers."""
        if name not in self.overall:
            raise KeyError(
                f'Expected one of {", ".join(self.overall)}, but got {name!r}.'
            )
        return self.overall[name]

    @lru_cache(maxsize=8)  # noqa: B019, the results live as long as it does
    def intervals(
        self,
        num_resamples: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> Mapping[str, Any]:
        """Resample the images; see :func:`mmdet_cppe5.core.bootstrap`.

        Returns:
            ``overall`` and ``classes``: name -> ``estimate``, ``low``,
            ``high``; and the settings.
        """
        result = bootstrap(
            self.assessment.evaluation,
            num_resamples,
            confidence=confidence,
            seed=seed,
            tide=False,
        )
        return interval_summary(result, self.assessment.class_names)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, as ``--json`` writes them."""
        return dict(self.assessment.summary)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per class and one for all, NaN for undefined.

        Raises:
            ImportError: if pandas is not installed.
        """
        pandas = _pandas()
        rows = {**self.per_class, 'all': self.overall}
        frame = pandas.DataFrame.from_dict(rows, orient='index', dtype=float)
        frame.index.name = 'class'
        return frame

    def plot(self, kind: str = 'classes') -> Figure:
        """Draw one figure of the report.

        Args:
            kind: ``'classes'``, ``'iou'`` or ``'tide'``.

        Raises:
            ImportError: if matplotlib is not installed.
            ValueError: if the kind is unknown.
        """
        drawings = {
            'classes': self._draw_classes,
            'iou': self._draw_thresholds,
            'tide': self._draw_tide,
        }
        if kind not in drawings:
            raise ValueError(
                f'Expected `kind` to be one of {", ".join(drawings)}, but '
                f'got {kind!r}.'
            )
        return drawings[kind]().figure

    def _draw_classes(self) -> figures.Drawing:
        evaluation = self.assessment.evaluation
        return figures.class_ap(
            self.assessment.class_names,
            evaluation.ap_per_class(),
            mean=evaluation.ap(),
        )

    def _draw_thresholds(self) -> figures.Drawing:
        evaluation = self.assessment.evaluation
        thresholds = evaluation.iou_thrs
        return figures.ap_by_iou(
            self.assessment.class_names,
            thresholds,
            np.array([evaluation.ap_per_class(t) for t in thresholds]),
        )

    def _draw_tide(self) -> figures.Drawing:
        tide = self.assessment.tide
        return figures.tide_summary(
            {name: tide.delta_ap[name] for name in MAIN_ERRORS},
            {name: tide.delta_ap[name] for name in SPECIAL_ERRORS},
            ap=tide.ap,
            threshold=tide.pos_thr,
        )

    def __str__(self) -> str:
        return write_parts(assessment_parts(self.assessment))

    def __repr__(self) -> str:
        shown = [name for name in self.overall if name.startswith('AP')]
        said = ', '.join(f'{n} {number(self.overall[n])}' for n in shown)
        truth = self.assessment.ground_truths
        return (
            f'<EvaluationResult: {said}; {truth.num_images} images, '
            f'{len(truth)} objects, {truth.num_classes} classes>'
        )

    def _repr_html_(self) -> str:
        columns = list(next(iter(self.per_class.values()), self.overall))
        rows = [
            [name, *(number(values[key]) for key in columns)]
            for name, values in self.per_class.items()
        ]
        rows.append(['all', *(number(self.overall[key]) for key in columns)])
        return _html_table(['class', *columns], rows, repr(self)[1:-1])


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult:
    """Which detectors differ significantly; numbers in points.

    Attributes:
        comparison: the core's comparison, fractions.
        confidence: coverage of the intervals.
    """

    comparison: Comparison
    confidence: float = 0.95

    @property
    def ranking(self) -> Mapping[str, Numbers]:
        """Detector -> ``estimate``, ``low``, ``high``; best first."""
        return {
            name: interval_points(self.comparison.estimates[name])
            for name in self.comparison.names
        }

    @property
    def significant(self) -> list[tuple[str, str]]:
        """The pairs that differ significantly, better one first."""
        return [
            (pair.first, pair.second)
            for pair in self.comparison.pairs
            if pair.significant
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return ranking, pairs and groups as plain values."""
        return {
            'metric': self.comparison.metric,
            'models': dict(self.ranking),
            'pairs': [self._pair(pair) for pair in self.comparison.pairs],
            'groups': [list(group) for group in self.comparison.groups],
            'alpha': self.comparison.alpha,
        }

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per pair of detectors.

        Raises:
            ImportError: if pandas is not installed.
        """
        return _pandas().DataFrame(self.to_dict()['pairs'])

    def _pair(self, pair: Any) -> dict[str, Any]:
        interval = interval_points(pair.difference)
        return {
            'first': pair.first,
            'second': pair.second,
            'difference': interval['estimate'],
            'low': interval['low'],
            'high': interval['high'],
            'p_value': float(pair.p_value),
            'p_adjusted': float(pair.p_adjusted),
            'significant': bool(pair.significant),
        }

    def __str__(self) -> str:
        return write_parts(comparison_parts(self.comparison, self.confidence))

    def __repr__(self) -> str:
        values = ', '.join(
            f'{name} {number(interval["estimate"])}'
            for name, interval in self.ranking.items()
        )
        return (
            f'<ComparisonResult: {self.comparison.metric} {values}; '
            f'{len(self.significant)} of {len(self.comparison.pairs)} pairs '
            'differ significantly>'
        )

    def _repr_html_(self) -> str:
        names = self.comparison.names
        letters = group_letters(names, self.comparison.groups)
        rows = [
            [name, *(number(value) for value in interval.values()), letter]
            for (name, interval), letter in zip(self.ranking.items(), letters)
        ]
        header = ['detector', self.comparison.metric, 'low', 'high', 'group']
        return _html_table(header, rows, repr(self)[1:-1])


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'Data frames need pandas, which is not installed; install it '
            "with: pip install pandas (the extra 'notebook')"
        ) from error
    return pandas


def _html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str
) -> str:
    """Return a table in the notebook's own colours and font."""
    cell = 'padding:2px 10px;border-bottom:1px solid #8886;text-align:'

    def line(tag: str, cells: Sequence[str]) -> str:
        return '<tr>' + ''.join(
            f'<{tag} style="{cell}{"right" if n else "left"}">'
            f'{html.escape(text)}</{tag}>'
            for n, text in enumerate(cells)
        ) + '</tr>'  # fmt: skip

    return (
        '<table style="border-collapse:collapse;color:inherit;'
        'background:transparent;font-variant-numeric:tabular-nums">'
        f'<caption style="caption-side:top;text-align:left;padding:4px 10px;'
        f'color:inherit">{html.escape(caption)}</caption>'
        f'<thead>{line("th", header)}</thead>'
        f'<tbody>{"".join(line("td", row) for row in rows)}</tbody></table>'
    )
