"""CPPE-5 from nothing to a checked data set in place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Optional

from mmdet_cppe5.classes import CLASSES
from mmdet_cppe5.data.archive import unpack
from mmdet_cppe5.data.convert.parquet import parquet_to_coco
from mmdet_cppe5.data.release import CPPE5, HubCopy, Release
from mmdet_cppe5.download import RemoteFile, download, google_drive
from mmdet_cppe5.images import content_format
from mmdet_cppe5.progress import track
from mmdet_cppe5.files import (
    PathLike,
    file_digest,
    locked,
    read_json,
    write_json,
)

MANIFEST = 'manifest.json'
_WANTED = r'annotations/[\w-]+\.json|images/[\w-]+\.\w+'
_FOLDERS = ('annotations', 'images')
_STAGING = '.staging'
_DOWNLOADED = 'downloaded'


@dataclass
class Prepared:
    """What :func:`prepare` found and did.

    Attributes:
        folder: the data set's folder.
        done: one sentence for each thing that was done; empty if all was
            there.
        source: where the files came from, as the manifest has it.
        images: number of images by split.
        boxes: number of boxes by split.
    """

    folder: Path
    done: list[str] = field(default_factory=list)
    source: str = ''
    images: dict[str, int] = field(default_factory=dict)
    boxes: dict[str, int] = field(default_factory=dict)


@dataclass
class _Options:
    release: Release
    report: Callable[[str], None]
    progress: bool
    settings: dict[str, Any]


def prepare(
    folder: PathLike = 'data/cppe5',
    archive: Optional[PathLike] = None,
    other_archive: bool = False,
    release: Release = CPPE5,
    report: Optional[Callable[[str], None]] = None,
    progress: bool = True,
    **settings: Any,
) -> Prepared:
    """Make sure that a whole, checked data set lies in a folder.

    Nothing is done if all is there. Otherwise the archive is fetched (or
    taken from ``archive``), unpacked beside the target, checked, and what is
    missing or broken is put in place by renaming. An annotation file that
    differs is kept as ``NAME.json.bak``.

    Args:
        folder: the data set's folder, with ``annotations`` and ``images``.
        archive: a copy of the archive at hand; None downloads it.
        other_archive: accept an ``archive`` with another digest than the
            published one; its contents are checked all the same.
        release: what to prepare.
        report: called with one sentence for each thing worth knowing.
        progress: show bars on a terminal.
        **settings: ``retries``, ``timeout`` and ``wait`` of the download.

    Raises:
        ConnectionError: if no source delivers.
        FileNotFoundError: if ``archive`` does not exist.
        ValueError: if the archive is not the right one, is unsafe, or does
            not hold what it should.
    """
    target = Path(folder)
    tell = report or (lambda sentence: None)
    options = _Options(release, tell, progress, settings)
    result = Prepared(target)
    target.mkdir(parents=True, exist_ok=True)
    with locked(target, tell):
        _prepare(target, archive, other_archive, options, result)
    return result


def _prepare(
    target: Path,
    archive: Optional[PathLike],
    other_archive: bool,
    options: _Options,
    result: Prepared,
) -> None:
    release, tell = options.release, options.report
    result.done += _completed(target, release)
    problems = _broken(target, release, options.progress)
    if problems:
        for sentence in problems[:5]:
            tell(sentence)
        if len(problems) > 5:
            tell(f'... and {len(problems) - 5:,} more.')
        _install(target, archive, other_archive, options, result)
    manifest = target / MANIFEST
    if manifest.is_file():
        content = read_json(manifest, 'a manifest', replaceable=True)
        result.source = content.get('source', '')
    for split in release.splits:
        dataset = read_json(_annotations(target, split), 'annotations')
        result.images[split] = len(dataset['images'])
        result.boxes[split] = len(dataset['annotations'])


def _completed(target: Path, release: Release) -> list[str]:
    """Finish, or else clear away, what an interrupted run has left."""
    staging = target / _STAGING
    manifest = staging / MANIFEST
    done = []
    if manifest.is_file():
        files = read_json(manifest, 'a manifest', replaceable=True)['files']
        if all(
            (target / name).is_file() and file_digest(target / name) == digest
            for name, digest in files.items()
        ):
            os.replace(manifest, target / MANIFEST)
            done.append('Completed what an interrupted run had begun.')
            if (staging / _DOWNLOADED).exists():
                (target / release.archive.name).unlink(missing_ok=True)
    shutil.rmtree(staging, ignore_errors=True)
    return done


def _annotations(folder: Path, split: str) -> Path:
    return folder / 'annotations' / f'{split}.json'


def _broken(folder: Path, release: Release, progress: bool) -> list[str]:
    """Say what keeps the folder from being a whole data set."""
    manifest = folder / MANIFEST
    if not any((folder / name).exists() for name in _FOLDERS):
        return [f'No data set in {folder} yet.']
    if not manifest.is_file():
        return contents_problems(folder, release)
    try:
        content = read_json(manifest, 'a manifest', replaceable=True)
        files = content['files'].items()
    except (AttributeError, KeyError, TypeError, ValueError):
        return [f'{manifest} is damaged.']
    problems = []
    for name, digest in track(files, len(files), 'Checking', progress):
        path = folder / name
        if not path.is_file():
            problems.append(f'{path} is missing.')
        elif file_digest(path) != digest:
            problems.append(f'{path} is not as published.')
    return problems


def contents_problems(folder: PathLike, release: Release) -> list[str]:
    """Say in which ways a folder is not the data set, file by file.

    Counts, classes, and that each image is there and an image are checked;
    ``verify`` looks deeper.
    """
    problems = []
    for split, count in release.splits.items():
        path = _annotations(Path(folder), split)
        try:
            dataset = read_json(path, f'the annotations of {split}')
            problems += _split_problems(dataset, path, count, release.classes)
        except (OSError, ValueError) as error:
            problems.append(str(error))
        except (KeyError, TypeError):
            problems.append(f'Expected a COCO annotation file in {path}.')
    return problems


def _split_problems(
    dataset: dict[str, Any], path: Path, count: int, classes: tuple[str, ...]
) -> list[str]:
    problems = []
    names = {image['file_name'] for image in dataset['images']}
    if not len(names) == len(dataset['images']) == count:
        problems.append(
            f'Expected {count:,} images in {path}, but got {len(names):,}.'
        )
    if not dataset['annotations']:
        problems.append(f'Expected boxes in {path}, but it has none.')
    found = {item['id']: item['name'] for item in dataset['categories']}
    if found != dict(enumerate(classes, start=1)):
        problems.append(f'Expected the classes {classes} in {path}: {found}.')
    for name in sorted(names):
        image = path.parent.parent / 'images' / name
        if not image.is_file():
            problems.append(f'{image} is missing.')
            continue
        with open(image, 'rb') as stream:
            if not content_format(stream.read(16)):
                problems.append(f'{image} is not an image.')
    return problems


def _install(
    target: Path,
    archive: Optional[PathLike],
    other_archive: bool,
    options: _Options,
    result: Prepared,
) -> None:
    """Get the files, check them and move those in place that are needed."""
    staging = target / _STAGING
    try:
        if archive is not None:
            _check_archive(Path(archive), other_archive, options.release)
            source = _unpack(Path(archive), staging, options)
        else:
            source = _fetch(target, staging, options)
        problems = contents_problems(staging, options.release)
        if problems:
            raise ValueError(
                f'Expected the whole data set from {source}, but found '
                f'{len(problems):,} faults, first: {problems[0]}'
            )
        files = _digests(staging, options.progress)
        content = {'source': source, 'files': files}
        if archive is None:
            (staging / _DOWNLOADED).touch()
        # Last, since it tells the next run that all else is complete here.
        write_json(staging / MANIFEST, content, indent=1)
        result.done += _put_in_place(staging, target, files)
        os.replace(staging / MANIFEST, target / MANIFEST)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    if archive is None:
        (target / options.release.archive.name).unlink(missing_ok=True)


def _check_archive(path: Path, other: bool, release: Release) -> None:
    if not path.is_file():
        raise FileNotFoundError(
            f'Expected the archive {release.archive.name} at {path}, but '
            'there is no such file.'
        )
    problem = release.archive.problem(path)
    if problem and not other:
        raise ValueError(
            f'Expected the published archive in {path}, but {problem}; '
            '--accept-other-archive takes it all the same.'
        )


def _unpack(archive: Path, staging: Path, options: _Options) -> str:
    left_out = unpack(archive, staging, _WANTED, progress=options.progress)
    if left_out:
        options.report(
            f'Left out {len(left_out):,} other files of the archive, such '
            f'as {left_out[0]}.'
        )
    return f'{archive.name}, sha256 {file_digest(archive)}'


def _fetch(target: Path, staging: Path, options: _Options) -> str:
    """Download the archive, or else the Hub's copy, into ``staging``."""
    try:
        archive = download(
            options.release.archive,
            target,
            report=options.report,
            progress=options.progress,
            **options.settings,
        )
        return _unpack(archive, staging, options)
    except ConnectionError as error:
        hub = options.release.hub
        if hub is None:
            raise
        options.report('No source has the archive; trying the Hub copy.')
        try:
            return _fetch_hub(hub, staging, options)
        except (ConnectionError, ImportError, ValueError) as second:
            # Of a failed download only what the sources said, not where its
            # file would have gone.
            said = str(second).splitlines()
            reasons = [line.strip() for line in said if line[:2] == '  ']
            raise ConnectionError(
                f'{error}\nOr name it with --archive. Nor did the Hugging '
                f'Face copy serve: {" ".join(reasons or said)}'
            ) from second


def _fetch_hub(hub: HubCopy, staging: Path, options: _Options) -> str:
    """Download the parquet copy and convert it into ``staging``."""
    parts = staging / 'parquet'
    for split in options.release.splits:
        files = []
        for number, entry in enumerate(_hub_index(hub, split, parts, options)):
            url = hub.file.format(path=entry['path'])
            remote = RemoteFile(
                f'{split}-{number}.parquet', (url,), entry.get('size'),
                (entry.get('lfs') or {}).get('oid', ''),
            )  # fmt: skip
            files.append(_get(remote, parts, options))
        converted = parquet_to_coco(
            files, staging / 'images', options.release.classes
        )
        for line in converted.summary():
            options.report(f'{split}: {line}')
        write_json(_annotations(staging, split), converted.content)
    shutil.rmtree(parts)
    return 'Hugging Face copy, converted from parquet'


def _get(remote: RemoteFile, folder: Path, options: _Options) -> Path:
    return download(
        remote,
        folder,
        report=options.report,
        progress=options.progress,
        **options.settings,
    )


def _hub_index(
    hub: HubCopy, split: str, folder: Path, options: _Options
) -> list[dict[str, Any]]:
    url = hub.index.format(split=split)
    index = _get(RemoteFile(f'{split}.json', (url,)), folder, options)
    entries = read_json(index, f'the list of parquet files at {url}')
    if not isinstance(entries, list) or not entries:
        raise ValueError(f'Expected a list of parquet files at {url}.')
    found = [
        entry for entry in entries
        if str(entry.get('path', '')).endswith('.parquet')
    ]  # fmt: skip
    return sorted(found, key=lambda entry: entry['path'])


def _digests(staging: Path, progress: bool) -> dict[str, str]:
    paths = sorted(path for path in staging.rglob('*') if path.is_file())
    return {
        path.relative_to(staging).as_posix(): file_digest(path)
        for path in track(paths, len(paths), 'Checking', progress)
    }


def _put_in_place(
    staging: Path, target: Path, files: dict[str, str]
) -> list[str]:
    """Move whole folders where there are none, else single files."""
    done = []
    for name in _FOLDERS:
        if not (target / name).exists():
            os.replace(staging / name, target / name)
            done.append(f'Put {target / name} in place.')
    for name, digest in files.items():
        new, path = staging / name, target / name
        if not new.exists():
            continue
        if path.is_file() and file_digest(path) == digest:
            continue
        if path.is_file() and path.suffix == '.json':
            os.replace(path, path.with_name(path.name + '.bak'))
            done.append(f'Kept the old {path} as {path.name}.bak.')
        os.replace(new, path)
        done.append(f'Repaired {path}.')
    return done
