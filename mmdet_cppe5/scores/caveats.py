"""What a reader should know about intervals and tests, in one line each."""

from __future__ import annotations

from collections.abc import Iterable

from mmdet_cppe5.core import BootstrapResult, Comparison, Interval

#: What :mod:`mmdet_cppe5.core.permutation` measured.
FALSE_ALARMS = (
    'Simulated: at the 5 % level the test called 5 to 6 % of the pairs of '
    'equal AP different (29 images).'
)
#: What :mod:`mmdet_cppe5.core.intervals` measured.
COVERAGE = (
    'Simulated: 95 % intervals held AP in 95 to 97 % of the samples of 29 to '
    '500 images, other numbers in 88 to 98 %.'
)


def reason_lines(named: Iterable[tuple[str, str]]) -> list[str]:
    """Return one line for each reason, with the names that it holds for.

    Args:
        named: name of a number and :attr:`Interval.reason`, which may be
            empty.
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in named:
        if reason:
            by_reason.setdefault(reason, []).append(name)
    return [
        f'{", ".join(names)}: {reason}' for reason, names in by_reason.items()
    ]


def bootstrap_reasons(
    result: BootstrapResult, class_names: Iterable[str]
) -> list[str]:
    """Return the reasons of one detector's intervals, a line each."""
    named = list(result.intervals.items())
    named += [
        (f'AP {name}', interval)
        for name, interval in zip(class_names, result.class_intervals)
    ]
    return _reasons(named)


def comparison_reasons(comparison: Comparison) -> list[str]:
    """Return the reasons of a comparison's intervals, a line each."""
    return _reasons(
        [
            *comparison.estimates.items(),
            *(
                (f'{pair.first} - {pair.second}', pair.difference)
                for pair in comparison.pairs
            ),
        ]
    )


def _reasons(named: Iterable[tuple[str, Interval]]) -> list[str]:
    return reason_lines((name, interval.reason) for name, interval in named)
