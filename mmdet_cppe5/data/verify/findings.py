"""What can be found, how grave it is, and how it is told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ('error', 'warning', 'info')

# code: (severity, what the cases are, text). An error stops training or
# evaluation or makes it use wrong boxes; a warning may mean a mistake; an
# info is a true fact that does no harm. What MMDetection 3.3.0 and
# pycocotools do was seen by running them on such files.
CATALOGUE = {
    'image-malformed': ('error', 'entry', 'no image record'),
    'image-id-missing': ('error', 'image', 'no usable image id'),
    'image-id-text': ('warning', 'image', 'image id is not an integer'),
    'image-id-repeated': (
        'error',
        'image',
        'image id listed again: one of the records is lost',
    ),
    'image-name-missing': ('error', 'image', 'no file name'),
    'image-name-repeated': ('warning', 'image', 'file name listed again'),
    'image-name-outside': (
        'warning',
        'image',
        'file name leaves the image folder',
    ),
    'image-size-missing': (
        'error',
        'image',
        'declared width or height is missing or not positive: MMDetection '
        'stops',
    ),
    'image-empty': (
        'info',
        'image',
        'image without objects: left out of training by filter_empty_gt, '
        'counted in evaluation',
    ),
    'category-malformed': (
        'error',
        'category',
        'category without an integer id and a name',
    ),
    'category-id-repeated': ('error', 'category', 'category id listed again'),
    'category-name-repeated': (
        'error',
        'category',
        'category name listed again',
    ),
    'category-unused': ('info', 'category', 'category without objects'),
    'annotation-malformed': ('error', 'entry', 'no annotation record'),
    'annotation-id-missing': (
        'error',
        'annotation',
        'no annotation id: pycocotools stops',
    ),
    'annotation-id-text': (
        'error',
        'annotation',
        'annotation id is not an integer: pycocotools stops or misreads it',
    ),
    'annotation-id-repeated': (
        'error',
        'annotation',
        'annotation id used again: MMDetection stops, pycocotools loses one',
    ),
    'annotation-id-zero': (
        'error',
        'annotation',
        'annotation id 0: pycocotools takes it for "not found", AP falls',
    ),
    'image-unknown': ('error', 'annotation', 'box of an image not listed'),
    'image-id-type': (
        'error',
        'annotation',
        'image_id is text where the image has a number, or the reverse',
    ),
    'category-unknown': (
        'error',
        'annotation',
        'box of a category not listed',
    ),
    'category-id-type': (
        'error',
        'annotation',
        'category_id is text where the category has a number, or the reverse',
    ),
    'box-missing': ('error', 'annotation', 'bbox is not four finite numbers'),
    'box-empty': ('error', 'annotation', 'box without width or height'),
    'box-tiny': (
        'warning',
        'annotation',
        'box under one pixel wide or high: left out of training',
    ),
    'box-off-image': (
        'error',
        'annotation',
        'box wholly outside the declared image: left out of training',
    ),
    'box-beyond': (
        'warning',
        'annotation',
        'box reaches beyond the declared image',
    ),
    'box-repeated': (
        'warning',
        'annotation',
        'same box and class as another of the image',
    ),
    'box-nearly-repeated': (
        'warning',
        'annotation',
        'nearly the box of another object of the class (IoU >= 0.9)',
    ),
    'box-two-classes': (
        'warning',
        'annotation',
        'same box as another of the image, under another class',
    ),
    'area-missing': (
        'error',
        'annotation',
        'no area: MMDetection and pycocotools stop',
    ),
    'area-invalid': (
        'error',
        'annotation',
        'area is negative or not a number',
    ),
    'area-differs': (
        'warning',
        'annotation',
        'area is not width × height, without a mask to explain it: decides '
        'small, medium, large',
    ),
    'crowd-missing': ('error', 'annotation', 'no iscrowd: pycocotools stops'),
    'crowd-invalid': ('error', 'annotation', 'iscrowd is neither 0 nor 1'),
    'crowd-all': (
        'error',
        'annotation',
        'every box is a crowd region: nothing is trained on or evaluated',
    ),
    'file-missing': ('error', 'image', 'no such image file'),
    'file-unreadable': ('error', 'image', 'image file cannot be read'),
    'file-format': (
        'info',
        'image',
        'content is not what the suffix says: harmless, readers go by content',
    ),
    'file-alpha': (
        'info',
        'image',
        'transparency, which MMDetection drops',
    ),
    'file-colour': (
        'warning',
        'image',
        'CMYK or more than 8 bits: readers differ in colours',
    ),
    'file-rotated': (
        'info',
        'image',
        'EXIF rotation, heeded by MMDetection; the declared size agrees',
    ),
    'file-unlisted': (
        'info',
        'file',
        'image file of the folder that no annotation file given lists',
    ),
    'size-before-rotation': (
        'error',
        'image',
        'declared size is the one before EXIF rotation, which MMDetection '
        'applies',
    ),
    'size-differs': ('error', 'image', "declared size is not the file's"),
    'image-repeated': ('warning', 'pair', 'identical images'),
    'image-near': ('warning', 'pair', 'near-identical images'),
    'split-file-shared': ('error', 'pair', 'same image file in two splits'),
    'split-image-repeated': (
        'error',
        'pair',
        'identical images in two splits',
    ),
    'split-image-near': (
        'warning',
        'pair',
        'near-identical images in two splits',
    ),
    'boxes-disagree': (
        'warning',
        'pair',
        'boxes of (near-)identical images that differ in class or place: '
        'the scene moved, or the annotation is inconsistent',
    ),
}


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
        code: the kind of fault, a key of :data:`CATALOGUE`.
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
    def severity(self) -> str:
        """``'error'``, ``'warning'`` or ``'info'``."""
        return CATALOGUE[self.code][0]

    @property
    def text(self) -> str:
        """What it is and what follows from it."""
        return CATALOGUE[self.code][2]

    def lines(self, examples: int) -> list[str]:
        """Return the finding as text, with some cases."""
        head = f'  {self.severity:<8}{len(self.where):,} × {self.text}'
        shown = self.details[:examples]
        more = len(self.where) - len(shown)
        if not shown:
            names = [str(case) for case in self.where[: 4 * examples]]
            more = len(self.where) - len(names)
            shown = [f'{CATALOGUE[self.code][1]} {", ".join(names)}']
        lines = [head, *(f'            {line}' for line in shown)]
        if more > 0:
            lines[-1] += f' ... and {more:,} more'
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the finding as a JSON value."""
        severity, kind, text = CATALOGUE[self.code]
        return {
            'code': self.code,
            'severity': severity,
            'file': self.source,
            'text': text,
            'count': len(self.where),
            'kind': kind,
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
            if finding.severity == severity
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
            facts = [f'{value:,} {name}' for name, value in counts.items()]
            lines.append(f'{source}: {", ".join(facts)}')
            for severity in SEVERITIES:
                for finding in self.findings:
                    if finding.source != source:
                        continue
                    if finding.severity == severity:
                        lines += finding.lines(examples)
        words = []
        for severity, name in zip(SEVERITIES, ('error', 'warning', 'note')):
            count = self.count(severity)
            words.append(f'{count:,} {name}{"" if count == 1 else "s"}')
        return [*lines, ', '.join(words)]

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            'files': self.files,
            'errors': self.count('error'),
            'warnings': self.count('warning'),
            'notes': self.count('info'),
            'findings': [finding.as_json() for finding in self.findings],
        }
