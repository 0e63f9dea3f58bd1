"""Pascal VOC XML files -> COCO.

VOC counts pixels from 1 and names the first and the last pixel of a box, so
``xmin`` = 1, ``xmax`` = 10 covers the first ten pixels: x = 0, width = 10.
CPPE-5's own annotations were made from LabelImg's XML files by this rule.
``first_pixel=0`` reads files that count from 0 instead.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Optional
from xml.parsers import expat

from mmdet_cppe5.coco.categories import nearest_names
from mmdet_cppe5.coco.records import shorten
from mmdet_cppe5.data.convert.conversion import (
    Conversion,
    Note,
    OfficialForm,
    clip_box,
    numeric_ids,
    tidy,
)
from mmdet_cppe5.image_names import NameIndex, is_hidden, last_part
from mmdet_cppe5.images import find_images, image_size
from mmdet_cppe5.files import PathLike

_LARGEST = 16 << 20  # bytes; real files have a few thousand
_ENCODING = re.compile(
    rb'\s*(?:\xef\xbb\xbf)?<\?xml[^>]*?encoding\s*=\s*["\']([\w.:-]+)["\']'
)


def voc_to_coco(
    annotations: PathLike,
    classes: Sequence[str],
    images: Optional[PathLike] = None,
    first_pixel: int = 1,
    names: Optional[Sequence[str]] = None,
) -> Conversion:
    """Convert a folder of Pascal VOC XML files.

    Image ids are the file names' numbers if all have one of their own, else
    1, 2, 3, ... ``difficult`` becomes ``ignore``, which COCO's evaluation
    does not heed.

    Args:
        annotations: the folder of the XML files.
        classes: the class names; they get the category ids 1, 2, 3, ...
        images: the folder of the image files, to find suffixes and sizes
            that the XML files lack and images without XML file.
        first_pixel: the number of an image's first pixel, 1 or 0.
        names: the stems to convert, as in ``ImageSets``; None takes all.

    Raises:
        FileNotFoundError: if a folder or a named file is missing.
        ValueError: if a file is not VOC XML, declares entities, or gives no
            size.
    """
    if first_pixel not in (0, 1):
        raise ValueError(f'Expected first_pixel 0 or 1, got {first_pixel}.')
    folder = Path(annotations)
    files = _xml_files(folder, names)
    pictures = {} if images is None else _pictures(Path(images))
    notes: list[Note] = []
    form = OfficialForm(classes)
    bare = set(pictures) - set(files) if names is None else set()
    roots = {stem: read_xml(path) for stem, path in files.items()}
    _add_named(pictures, roots)
    bare -= {pictures[stem].stem for stem in roots if stem in pictures}
    stems = sorted({*files, *bare}, key=lambda stem: (len(stem), stem))
    file_names = [_file_name(s, roots.get(s), pictures) for s in stems]
    ids = numeric_ids(file_names)
    for stem, image_id, file_name in zip(stems, ids, file_names):
        root, picture = roots.get(stem), pictures.get(stem)
        width, height = _size(root, picture, files.get(stem))
        if picture and root is not None and _declared(root) != (width, height):
            why = "declared size is not the file's: the file's was used"
            notes.append(Note('changed', why, f'{stem}.xml'))
        form.add_image(file_name, width, height, image_id)
        for number, item in enumerate(
            [] if root is None else root.iter('object'), start=1
        ):
            where = f'{stem}.xml object {number}'
            reader = _Object(item, where, list(classes), notes)
            box = reader.box(first_pixel, width, height)
            if box is not None:
                form.add_box(
                    image_id, reader.index, box, ignore=reader.difficult
                )
    return Conversion(form.dataset(), notes)


def read_xml(path: Path) -> ElementTree.Element:
    """Parse an XML file that declares no document type.

    Entities, which can grow without bound or read other files, need such a
    declaration, and VOC files have none.

    Raises:
        ValueError: if it is not such a file.
    """
    data = path.read_bytes()
    if len(data) > _LARGEST:
        raise ValueError(
            f'Expected at most {_LARGEST:,} bytes of XML in {path}, but got '
            f'{len(data):,}.'
        )
    data = _as_utf8(data, path)

    def refuse(name: str, *rest: object) -> None:
        raise ValueError(
            f'Expected XML without a document type in {path}, but it '
            f'declares {name!r}.'
        )

    parser = expat.ParserCreate('utf-8')
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
        builder = ElementTree.XMLParser(encoding='utf-8')
        return ElementTree.fromstring(data, builder)
    except (expat.ExpatError, ElementTree.ParseError) as error:
        raise ValueError(
            f'Expected Pascal VOC XML in {path}, but it is not XML: {error}.'
        ) from error


def _as_utf8(data: bytes, path: Path) -> bytes:
    """Return XML in UTF-8, whatever it declares.

    The parser knows no encoding of several bytes but UTF-8 and UTF-16, and
    annotation tools declare GBK, Shift_JIS and others; Python reads them.

    Raises:
        ValueError: if the encoding is unknown, or not that of the file.
    """
    declared = _ENCODING.match(data)
    name = declared[1].decode('ascii') if declared else 'utf-8'
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        name = 'utf-16'
    elif b'\0' in data[:2]:
        name = 'utf-16-be' if data[:1] == b'\0' else 'utf-16-le'
    try:
        text = data.decode(name)
    except LookupError as error:
        raise ValueError(
            f'Expected XML in an encoding that Python knows in {path}, but '
            f'it declares {name!r}.'
        ) from error
    except UnicodeDecodeError as error:
        said = 'it declares' if declared else 'XML is where it declares none'
        raise ValueError(
            f'Expected {path} to be in {name}, as {said}, but byte '
            f'{error.start} is not ({error.reason}).'
        ) from error
    return text.encode('utf-8', 'surrogatepass')


def _xml_files(
    folder: Path, names: Optional[Sequence[str]]
) -> dict[str, Path]:
    if names is not None:
        files = {name: folder / f'{name}.xml' for name in names}
    else:
        files = {
            path.stem: path
            for path in sorted(folder.glob('*.xml'))
            if not is_hidden(path.name)
        }
    missing = [path for path in files.values() if not path.is_file()]
    if missing or not files:
        raise FileNotFoundError(
            'Expected Pascal VOC XML files, but there is no '
            f'{missing[0] if missing else folder / "*.xml"}.'
        )
    return files


def _pictures(folder: Path) -> dict[str, Path]:
    pictures: dict[str, Path] = {}
    for path in find_images(folder):
        if path.parent != folder:
            continue
        if path.stem in pictures:
            raise ValueError(
                f'Expected one image named {path.stem}, but {folder} has '
                f'{pictures[path.stem].name} and {path.name}.'
            )
        pictures[path.stem] = path
    return pictures


def _add_named(
    pictures: dict[str, Path], roots: dict[str, ElementTree.Element]
) -> None:
    """Find pictures not called as their XML file by its ``<filename>``."""
    by_name = {path.name: path for path in pictures.values()}
    index = NameIndex(by_name)
    for stem, root in roots.items():
        if stem not in pictures:
            name = index.find((root.findtext('filename') or '').strip())
            if name is not None:
                pictures[stem] = by_name[name]


def _file_name(
    stem: str,
    root: Optional[ElementTree.Element],
    pictures: dict[str, Path],
) -> str:
    """Return the image's own name, else what the XML file says."""
    if stem in pictures:
        return pictures[stem].name
    text = '' if root is None else (root.findtext('filename') or '').strip()
    # Renamed pairs keep the old <filename>; the XML file's own name counts.
    return f'{stem}{Path(last_part(text)).suffix or ".jpg"}'


def _size(
    root: Optional[ElementTree.Element],
    picture: Optional[Path],
    path: Optional[Path],
) -> tuple[int, int]:
    """Return the image file's size, else the declared one."""
    if picture is not None:
        return image_size(picture, str(picture))
    width, height = (0, 0) if root is None else _declared(root)
    if width <= 0 or height <= 0:
        raise ValueError(
            f'Expected the image size in {path}, but it has none; name the '
            'folder of the images with --images.'
        )
    return width, height


def _declared(root: ElementTree.Element) -> tuple[int, int]:
    """Return the size an XML file declares, 0 for what is not there."""
    try:
        return (
            int(float(root.findtext('size/width') or 0)),
            int(float(root.findtext('size/height') or 0)),
        )
    except (OverflowError, ValueError):
        return 0, 0


class _Object:
    """One ``<object>`` element."""

    def __init__(
        self,
        item: ElementTree.Element,
        where: str,
        classes: list[str],
        notes: list[Note],
    ) -> None:
        name = (item.findtext('name') or '').strip()
        self.name = name
        self.index = classes.index(name) if name in classes else -1
        self.difficult = int((item.findtext('difficult') or '0') == '1')
        self._item, self._where, self._notes = item, where, notes
        self._classes = classes

    def box(
        self, first_pixel: int, width: int, height: int
    ) -> Optional[tuple[float, float, float, float]]:
        """Return x, y, w, h in pixels, or note why there is none."""
        if self.index < 0:
            near = nearest_names([self.name], self._classes)
            return self._drop(
                f'class {shorten(self.name)} is not asked for{near}'
            )
        corners = self._corners()
        if corners is None:
            return self._drop('no bndbox with four numbers')
        left, top, right, bottom = corners
        # The last pixel ends one further than it starts, so counting from 1
        # cancels out there; counting from 0 it must be added.
        x, y = left - first_pixel, top - first_pixel
        right, bottom = right + 1 - first_pixel, bottom + 1 - first_pixel
        full = (x, y, right - x, bottom - y)
        box = clip_box(full, width, height)
        if full[2] <= 0 or full[3] <= 0:
            return self._drop(
                'xmax or ymax is below xmin or ymin: corners swapped, or no '
                'box'
            )
        if min(box[2:]) <= 0:
            return self._drop('nothing of the box lies inside the image')
        if [tidy(value) for value in box] != [tidy(value) for value in full]:
            why = 'box reached beyond the image: clipped'
            self._notes.append(Note('changed', why, self._where))
        return box

    def _corners(self) -> Optional[tuple[float, ...]]:
        bounds = self._item.find('bndbox')
        if bounds is None:
            return None
        try:
            corners = tuple(
                float(bounds.findtext(name) or 'x')
                for name in ('xmin', 'ymin', 'xmax', 'ymax')
            )
        except ValueError:
            return None
        return corners if all(map(math.isfinite, corners)) else None

    def _drop(self, why: str) -> None:
        self._notes.append(Note('dropped', why, self._where))
