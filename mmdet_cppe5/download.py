"""Downloads that resume, retry, check what came and end atomically.

One file is described by a :class:`RemoteFile` and fetched by
:func:`download` from the first of its sources that delivers it. Only the
standard library is used, so that a checkpoint or the data set can be fetched
before anything else is installed.
"""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, NoReturn, Optional

from mmdet_cppe5 import __version__
from mmdet_cppe5.files import PathLike, file_digest, locked
from mmdet_cppe5.progress import progress_bar

Report = Callable[[str], None]
Check = Callable[[Path], str]

_BLOCK = 1 << 18
# Answers that may be different a moment later; any other 4xx means gone.
_PASSING = {408, 425, 429}
_LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class RemoteFile:
    """A file, where it can be had and how to know that it is the right one.

    Attributes:
        name: the file's name on disk.
        urls: its sources, ``http://`` or ``https://``, best first.
        size: its length in bytes, if known.
        sha256: its SHA-256 in hexadecimal, or the first digits of it (at
            least eight), as in the file names of OpenMMLab's checkpoints.
        md5: its MD5 in hexadecimal, if published.
    """

    name: str
    urls: tuple[str, ...]
    size: Optional[int] = None
    sha256: str = ''
    md5: str = ''

    def __post_init__(self) -> None:
        if Path(self.name).name != self.name or self.name in ('', '.', '..'):
            raise ValueError(
                f'Expected a file name without folders, but got {self.name!r}.'
            )
        if self.sha256 and not 8 <= len(self.sha256) <= 64:
            raise ValueError(
                f'Expected 8 to 64 digits of the SHA-256 of {self.name}, '
                f'but got {self.sha256!r}.'
            )
        for url in self.urls:
            if not url.startswith(('https://', 'http://')):
                raise ValueError(
                    f'Expected an http(s) source of {self.name}, but got '
                    f'{url!r}.'
                )

    @property
    def has_digest(self) -> bool:
        """Whether the bytes can be told from any others."""
        return bool(self.sha256 or self.md5)

    def problem(self, path: PathLike) -> str:
        """Say what is wrong with a copy of the file, or return ``''``.

        Args:
            path: the copy; it must exist.
        """
        size = os.path.getsize(path)
        if self.size is not None and size != self.size:
            return f'it has {size:,} bytes, not {self.size:,}'
        for algorithm, wanted in (('sha256', self.sha256), ('md5', self.md5)):
            if not wanted:
                continue
            digest = file_digest(path, algorithm)
            if not digest.startswith(wanted.lower()):
                return f'its {algorithm} is {digest}, not {wanted}'
        return ''


def google_drive(file_id: str) -> str:
    """Return the address of a public Google Drive file's bytes.

    ``confirm=t`` passes the page that asks whether a file too large for
    Google's virus scan is wanted all the same.
    """
    return (
        'https://drive.usercontent.google.com/download'
        f'?id={file_id}&export=download&confirm=t'
    )


def download(
    file: RemoteFile,
    folder: PathLike,
    retries: int = 5,
    timeout: float = 30.0,
    wait: float = 1.0,
    report: Optional[Report] = None,
    progress: bool = True,
    check: Optional[Check] = None,
) -> Path:
    """Fetch a file, or keep the right copy that is already there.

    What has arrived is kept in ``folder/NAME.part``, and the next attempt,
    also in a later run, goes on from there if the file has a digest to check
    the whole against. The file gets its name only when its size and digests
    are right.

    Args:
        file: what to fetch.
        folder: where to put it; made if missing.
        retries: attempts on one source in a row that bring no new bytes
            before the next source is tried.
        timeout: seconds without a byte after which a connection is given up.
        wait: seconds before the first new attempt, doubled each time.
        report: called with one sentence for each thing that went wrong.
        progress: show a bar on a terminal.
        check: called with the path of what has arrived whole; says what is
            wrong with it, or returns ``''``. It comes before the file gets
            its name.

    Returns:
        The path of the checked file.

    Raises:
        ConnectionError: if no source delivers the file; the message says
            what each of them did and what to do by hand.
    """
    tell = report or (lambda sentence: None)
    target = Path(folder) / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + '.part')
    with locked(target.parent, tell):
        if target.is_file():
            problem = file.problem(target)
            if not problem:
                return target
            tell(f'{target} is replaced: {problem}.')
        failures = []
        for url in file.urls:
            if not file.has_digest:  # parts of two versions could mix
                part.unlink(missing_ok=True)
            source = _Source(file, url, part, timeout, tell, progress, check)
            try:
                source.fetch(retries, wait)
            except _SourceError as error:
                tell(f'{url}: {error}.')
                failures.append(f'{url}: {error}')
                continue
            os.replace(part, target)
            return target
    raise ConnectionError(_no_source(file, target, failures))


def _no_source(file: RemoteFile, target: Path, failures: list[str]) -> str:
    size = f' ({file.size:,} bytes)' if file.size is not None else ''
    digest = f' sha256 {file.sha256}' if file.sha256 else ''
    digest = digest or (f' md5 {file.md5}' if file.md5 else '')
    known = f' with{digest}' if digest else ''
    lines = [f'Expected to fetch {file.name}{size}, but no source has it:']
    lines += [f'  {failure}' for failure in failures]
    lines += [f'Get the file{known} elsewhere and put it at {target}.']
    return '\n'.join(lines)


class _SourceError(Exception):
    """This source will not deliver; try the next one."""


class _BrokenError(Exception):
    """The connection failed; the same source may deliver later."""

    def __init__(self, text: str, wait: Optional[float] = None) -> None:
        super().__init__(text)
        self.wait = wait


@dataclass
class _Source:
    """One source of one file, and the partial file it writes to."""

    file: RemoteFile
    url: str
    part: Path
    timeout: float
    tell: Report
    progress: bool
    check: Optional[Check] = None
    entity: str = ''  # the source's own mark of this version of the file

    def fetch(self, retries: int, wait: float) -> None:
        """Fill ``part`` with the right bytes or raise ``_SourceError``."""
        idle = 0
        furthest = self._length()
        resumed = furthest > 0
        while True:
            try:
                self._attempt()
                problem = self._problem()
                if not problem:
                    return
                self.part.unlink()
                if not resumed:
                    raise _SourceError(f'sent another file: {problem}')
                # The first part came from elsewhere: once more from byte 0.
                resumed, furthest = False, 0
                self.tell(f'{self.url}: starting over, {problem}.')
                continue
            except _BrokenError as error:
                idle = 0 if self._length() > furthest else idle + 1
                furthest = max(furthest, self._length())
                if idle > retries:
                    again = f', {idle} times in a row' if idle > 1 else ''
                    raise _SourceError(f'{error}{again}') from error
                pause = error.wait or wait * 2 ** max(idle - 1, 0)
                self.tell(f'{self.url}: {error}; trying again.')
                time.sleep(min(pause, _LONGEST_WAIT))

    def _problem(self) -> str:
        problem = self.file.problem(self.part)
        return problem or (self.check(self.part) if self.check else '')

    def _length(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _attempt(self) -> None:
        """Append what is missing of ``part`` in one request."""
        offset = self._length()
        if offset and offset == self.file.size:
            return
        with self._open(offset) as answer:
            start = self._start(answer, offset)
            total = self._total(answer, start)
            bar = progress_bar(
                self.progress, total=total, initial=start, unit='B',
                unit_scale=True, unit_divisor=1024, desc=self.file.name,
            )  # fmt: skip
            try:
                self._copy(answer, start, total, bar.update)
            finally:
                bar.close()

    def _open(self, offset: int) -> http.client.HTTPResponse:
        request = urllib.request.Request(self.url)
        request.add_header('User-Agent', f'mmdet-cppe5/{__version__}')
        if offset:
            request.add_header('Range', f'bytes={offset}-')
            if self.entity:
                request.add_header('If-Range', self.entity)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(error)
        except (http.client.InvalidURL, ValueError) as error:
            raise _SourceError(
                f'leads to an address that makes no sense ({error!s:.200})'
            ) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, 'reason', None) or error
            text = str(reason) or type(reason).__name__
            raise _BrokenError(f'no answer ({text})') from error

    def _refused(self, error: urllib.error.HTTPError) -> NoReturn:
        """Sort an HTTP error into 'gone' and 'perhaps later'."""
        text = f'answers HTTP {error.code} {error.reason}'
        if error.code == 416:  # our part is longer than the file
            self.part.unlink(missing_ok=True)
            raise _BrokenError(text)
        if error.code < 500 and error.code not in _PASSING:
            gone = ' (gone, or not public)' if error.code != 400 else ''
            raise _SourceError(text + gone)
        after = error.headers.get('Retry-After') or ''
        raise _BrokenError(text, float(after) if after.isdigit() else None)

    def _start(self, answer: http.client.HTTPResponse, offset: int) -> int:
        """Return the position of the answer's first byte in the file."""
        kind = answer.headers.get_content_type()
        if kind == 'text/html' and not self.file.name.endswith('.html'):
            raise _SourceError(
                'sends a web page instead of the file (a quota, a log-in or '
                'a question to be answered in a browser)'
            )
        # A strong ETag names these very bytes; a weak one ('W/') does not.
        mark = answer.headers.get('ETag') or ''
        self.entity = '' if mark.startswith('W/') else mark
        span = answer.headers.get('Content-Range') or ''
        if answer.status == 206 and span.startswith(f'bytes {offset}-'):
            return offset
        if answer.status == 206:
            self.part.unlink(missing_ok=True)
            raise _BrokenError(f'sends another range than asked ({span!r})')
        return 0

    def _total(
        self, answer: http.client.HTTPResponse, start: int
    ) -> Optional[int]:
        """Return the length the source says the file has, or None."""
        length = answer.headers.get('Content-Length') or ''
        total = start + int(length) if length.isdigit() else None
        if None not in (total, self.file.size) and total != self.file.size:
            raise _SourceError(
                f'has a file of {total:,} bytes, not {self.file.size:,}'
            )
        return self.file.size if total is None else total

    def _copy(
        self,
        answer: http.client.HTTPResponse,
        start: int,
        total: Optional[int],
        moved: Callable[[float], Optional[bool]],
    ) -> None:
        """Write the answer to ``part`` from byte ``start`` on."""
        with open(self.part, 'r+b' if start else 'wb') as stream:
            stream.seek(start)
            while block := self._read(answer):
                start += len(block)
                if total is not None and start > total:
                    raise _SourceError(f'sends more than {total:,} bytes')
                stream.write(block)
                moved(len(block))
            stream.flush()
            os.fsync(stream.fileno())
        if total is not None and start < total:
            raise _BrokenError(f'cut off after {start:,} of {total:,} bytes')

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        try:
            return answer.read(_BLOCK)
        except http.client.IncompleteRead as error:
            if error.partial:
                return error.partial  # the next read finds the end
            raise _BrokenError('cut off') from error
        except (OSError, http.client.HTTPException) as error:
            text = str(error) or type(error).__name__
            raise _BrokenError(f'connection lost ({text})') from error
