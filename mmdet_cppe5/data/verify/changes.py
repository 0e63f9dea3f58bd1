"""What correcting a data set changed, record by record."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

from mmdet_cppe5.data.convert.conversion import MOST_LOST
from mmdet_cppe5.data.verify.catalogue import CATALOGUE
from mmdet_cppe5.data.verify.findings import strict


@dataclass(frozen=True)
class Change:
    """One change of one record.

    Attributes:
        kind: ``'image'`` or ``'annotation'``.
        record: its id before the change, or its place without one.
        what: the field, or ``'dropped'``.
        before: the value before; the whole record if it was dropped.
        after: the value after; None if it was dropped.
        code: the finding that it answers.
    """

    kind: str
    record: Any
    what: str
    before: Any
    after: Any
    code: str

    def as_json(self) -> dict[str, Any]:
        """Return the change as a JSON value, NaN and infinity as text."""
        return strict(asdict(self))


@dataclass
class Fixed:
    """A corrected data set.

    Attributes:
        dataset: the COCO data set.
        changes: every change, in order.
        unresolved: sentences about sizes that could not be corrected.
    """

    dataset: dict[str, Any]
    changes: list[Change] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)

    def check_loss(self, most: float = MOST_LOST) -> None:
        """Make sure that enough annotations are left.

        Args:
            most: the share of them that may be dropped.

        Raises:
            ValueError: if none is left, or more are dropped; the main
                reason comes first.
        """
        kept = len(self.dataset['annotations'])
        dropped = Counter(
            change.code
            for change in self.changes
            if (change.kind, change.what) == ('annotation', 'dropped')
        )
        lost = sum(dropped.values())
        if not lost or (kept and lost <= most * (kept + lost)):
            return
        (code, count), *_ = dropped.most_common(1)
        raise ValueError(
            f'Expected at least {1 - most:.0%} of the annotations to be '
            f'left, but {lost:,} of {kept + lost:,} would be dropped, '
            f'{count:,} of them for: {CATALOGUE[code].text}. Nothing was '
            'written; --allow-empty writes what is left.'
        )

    def summary(self) -> list[str]:
        """Return one line for each kind of change, with a count."""
        counts: dict[tuple[str, str, str], int] = defaultdict(int)
        for change in self.changes:
            verb = 'dropped' if change.what == 'dropped' else 'changed'
            counts[verb, change.kind, change.code] += 1
        return [
            f'{verb} {count:,} {kind}{"" if count == 1 else "s"}: {code}'
            for (verb, kind, code), count in counts.items()
        ]
