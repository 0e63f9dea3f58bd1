"""What was found in annotation files, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mmdet_cppe5.coco.records import counted
from mmdet_cppe5.data.verify.catalogue import CATALOGUE, SEVERITIES, Kind

def strict(value: Any) -> Any:
    """Return a JSON value with text where strict JSON has no number."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


@dataclass
class Finding:
    """All cases of one kind of fault in one annotation file.

    Attributes:
        code: the kind of fault, a key of the catalogue.
        source: the annotation file.
        where: ids of all cases (a pair is a list of two), or a name where
            there is no id.
        details: what is particular about each case, or about the first
            ones.
    """

    code: str
    source: str
    where: list[Any] = field(default_factory=list)
    details: list[str] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """How grave the fault is and what follows from it."""
        return CATALOGUE[self.code]

    def lines(self, examples: int) -> list[str]:
        """Return the finding as text, with some cases."""
        head = (
            f'  {self.kind.severity:<8}{len(self.where):,} × '
            f'{self.kind.text}'
        )
        shown = self.details[:examples]
        more = len(self.where) - len(shown)
        if not shown:
            names = [str(case) for case in self.where[: 4 * examples]]
            more = len(self.where) - len(names)
            shown = [f'{self.kind.case} {", ".join(names)}']
        lines = [head, *(f'            {line}' for line in shown)]
        if more > 0:
            lines[-1] += f' ... and {more:,} more'
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the finding as a JSON value."""
        return {
            'code': self.code,
            'severity': self.kind.severity,
            'file': self.source,
            'text': self.kind.text,
            'count': len(self.where),
            'kind': self.kind.case,
            'where': self.where,
            'details': self.details,
        }


class Findings:
    """Collects the findings about one annotation file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.items: list[Finding] = []

    def add(
        self,
        code: str,
        where: Sequence[Any],
        details: Sequence[str] = (),
    ) -> None:
        """Add a finding if it has any case."""
        if where:
            self.items.append(
                Finding(code, self.source, list(where), list(details))
            )


_ONE = {
    'images': 'image',
    'boxes': 'box',
    'classes': 'class',
    'image files read': 'image file read',
}


@dataclass
class Report:
    """All findings about one or more annotation files.

    Attributes:
        files: what was looked at: for each annotation file the number of
            images, boxes, classes and opened image files.
        findings: what was found.
    """

    files: dict[str, dict[str, int]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def count(self, severity: str) -> int:
        """Return the number of cases of one severity."""
        return sum(
            len(finding.where)
            for finding in self.findings
            if finding.kind.severity == severity
        )

    def find(self, code: str) -> list[Finding]:
        """Return the findings of one kind."""
        return [item for item in self.findings if item.code == code]

    def exit_code(self, strict: bool = False) -> int:
        """Return 1 if there are errors (or, strictly, warnings), else 0."""
        bad = self.count('error') + strict * self.count('warning')
        return int(bad > 0)

    def lines(self, examples: int = 3) -> list[str]:
        """Return the report as text, gravest findings first."""
        lines = []
        for source, counts in self.files.items():
            facts = [
                counted(value, _ONE.get(name, name), name)
                for name, value in counts.items()
            ]
            lines.append(f'{source}: {", ".join(facts)}')
            for severity in SEVERITIES:
                for finding in self.findings:
                    if finding.source != source:
                        continue
                    if finding.kind.severity == severity:
                        lines += finding.lines(examples)
        words = []
        for severity, name in zip(SEVERITIES, ('error', 'warning', 'note')):
            count = self.count(severity)
            words.append(counted(count, name))
        lines.append(', '.join(words))
        # An id may hold half of a surrogate pair, which nothing can print.
        return [
            line.encode('utf-8', 'backslashreplace').decode()
            for line in lines
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            'files': self.files,
            'errors': self.count('error'),
            'warnings': self.count('warning'),
            'notes': self.count('info'),
            'findings': [finding.as_json() for finding in self.findings],
        }
