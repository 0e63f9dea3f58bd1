"""HTML pages out of sections: templates, style, script and theme."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional, Union

from mmdet_cppe5 import __version__
from mmdet_cppe5.figures import Drawing
from mmdet_cppe5.reports.gallery import Group
from mmdet_cppe5.reports.photos import Photo
from mmdet_cppe5.reports.theming import inline_svg, theme_css

TEMPLATES = Path(__file__).parent / 'templates'

# Colours of the page itself; contrast of text at least 4.5:1 in each theme.
_LIGHT = (
    'color-scheme:light;--page:#f5f6f8;--card:#ffffff;--ink:#1b1f24;'
    '--muted:#555f6a;--line:#dde2e8;--edge:#8a949e;--accent:#0b5fa5;'
    '--accent-soft:#e4f0fa;--hover:#f2f5f8;'
)
_DARK = (
    'color-scheme:dark;--page:#0f1214;--card:#171a1e;--ink:#e4e9f0;'
    '--muted:#a2acb7;--line:#2a2f36;--edge:#66707b;--accent:#6db7f5;'
    '--accent-soft:#16324a;--hover:#1d2227;'
)


@dataclass(frozen=True)
class Cell:
    """What a table shows and sorts by; ``share`` (0..1) draws a bar."""

    text: str
    sort: Union[str, float] = ''
    small: str = ''
    share: Optional[float] = None


@dataclass(frozen=True)
class Column:
    """A column's name, whether it holds numbers, and what it means."""

    name: str
    number: bool = True
    hint: str = ''


@dataclass(frozen=True)
class Row:
    """A table's row.

    Attributes:
        cells: one per column.
        photo: the image that its first cell opens.
        show: ``errors`` and ``classes`` of the examples that its first cell
            shows.
    """

    cells: Sequence[Cell]
    photo: Optional[int] = None
    show: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class Table:
    """A table to be sorted on the page or exported for a paper."""

    id: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    text: str = ''


@dataclass(frozen=True)
class Gallery:
    """Groups of examples with the classes to filter by."""

    groups: Sequence[Group]
    classes: Sequence[str]
    worklist: bool = True
    legend: Sequence[tuple[str, str]] = (
        ('gt', 'object as annotated'),
        ('missed', 'missed object'),
        ('det', 'wrong detection'),
    )


@dataclass(frozen=True)
class PairView:
    """Two detectors against each other: what a line says and unfolds."""

    title: str
    text: str
    table: Table
    groups: Sequence[Group]


@dataclass(frozen=True)
class Section:
    """One part of a page: words, figures, examples, tables, facts."""

    id: str
    title: str
    texts: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = ()
    gallery: Optional[Gallery] = None
    filter: str = ''
    facts: Sequence[tuple[str, str]] = ()
    pairs: Sequence[PairView] = ()


@dataclass(frozen=True)
class Headline:
    """One big number on top of a page."""

    label: str
    value: str
    interval: str = ''


@dataclass(frozen=True)
class Page:
    """All that a page says.

    Attributes:
        title: its heading.
        kicker: a few words above the heading.
        subtitle: a sentence below it.
        headline: the big numbers, the most important first.
        findings: sentences on what stands out.
        sections: the parts.
        photos: what the lightbox shows.
        start_score: detections below it are first hidden in the lightbox.
        data_set: ``images`` and ``categories`` of the worklist, in COCO's
            form.
        detector: name of the detector that the page is about.
    """

    title: str
    kicker: str
    subtitle: str
    headline: Sequence[Headline] = ()
    findings: Sequence[str] = ()
    sections: Sequence[Section] = ()
    photos: Sequence[Photo] = field(default=())
    start_score: float = 0.0
    data_set: Optional[Mapping[str, Any]] = None
    detector: str = ''

    def drawings(self) -> list[Drawing]:
        """Return the figures of all sections."""
        return [each for part in self.sections for each in part.drawings]

    def tables(self) -> list[Table]:
        """Return the tables of all sections."""
        tables = [each for part in self.sections for each in part.tables]
        for part in self.sections:
            tables += [pair.table for pair in part.pairs]
        return tables


def require_jinja() -> None:
    """Raise an ImportError that names the extra when Jinja2 is absent."""
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'Reports need Jinja2, which is not installed; '
            "install it with: pip install 'mmdet-cppe5[report]'"
        ) from error


def render(page: Page) -> str:
    """Return a page as one HTML file that needs nothing else.

    Every string is escaped by the template engine; only the figures, the
    style and the script, all made here, are put in as they are. A content
    policy in the file forbids any request and any other script.
    """
    require_jinja()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
    )
    colours: set[str] = set()
    sections = [
        _with_svg(section, colours, Markup) for section in page.sections
    ]
    script = (TEMPLATES / 'page.js').read_text(encoding='utf-8')
    digest = hashlib.sha256(script.encode()).digest()
    now = datetime.now(timezone.utc)
    return environment.get_template('report.html.j2').render(
        page=page,
        sections=sections,
        navigation=[('summary', 'Summary')]
        + [(section.id, section.title) for section in page.sections],
        photos=page.photos,
        photo_data=[_photo_data(photo) for photo in page.photos],
        style=Markup(_style(colours)),
        script=Markup(script),
        script_hash='sha256-' + base64.b64encode(digest).decode(),
        version=__version__,
        made=now.strftime('%Y-%m-%d %H:%M UTC'),
    )


def _with_svg(section: Section, colours: set[str], markup: Any) -> dict:
    """Return a section's fields with its figures as SVG."""
    fields = dict(vars(section))
    fields['drawings'] = [
        {
            **vars(drawing),
            'svg': markup(inline_svg(drawing, colours)),
        }
        for drawing in section.drawings
    ]
    return fields


def _style(colours: set[str]) -> str:
    light, dark = theme_css(colours)
    light, dark = _LIGHT + light, _DARK + dark
    return '\n'.join(
        [
            f':root{{{light}}}',
            '@media (prefers-color-scheme:dark){'
            f':root:not([data-theme=light]){{{dark}}}}}',
            f':root[data-theme=dark]{{{dark}}}',
            f'@media print{{:root:root:root{{{light}}}}}',
            (TEMPLATES / 'page.css').read_text(encoding='utf-8'),
        ]
    )


def _photo_data(photo: Photo) -> dict[str, Any]:
    """Return what the lightbox needs of a photo."""
    return {
        'key': photo.key,
        'name': photo.name,
        'width': photo.width,
        'height': photo.height,
        'pixels': photo.href is not None,
        'boxes': photo.boxes,
        'others': photo.others,
        'facts': photo.facts,
    }
