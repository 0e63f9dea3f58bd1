"""What is said of long work: nothing, unless a person is watching."""

import io
import time
from contextlib import redirect_stderr

from mmdet_cppe5.progress import phase


class Terminal(io.StringIO):
    """Standard error of somebody who looks on."""

    def isatty(self):
        return True


def test_long_work_is_named_and_the_line_cleared():
    with redirect_stderr(Terminal()) as terminal, phase('Count', after=0.01):
        time.sleep(0.2)
    assert '\rCount … 0 s' in terminal.getvalue()
    assert terminal.getvalue().endswith('\r\033[K')


def test_short_or_quiet_work_says_nothing():
    with redirect_stderr(Terminal()) as terminal:
        with phase('Count'):
            pass
        with phase('Count', show=False, after=0):
            time.sleep(0.05)
    assert terminal.getvalue() == ''


def test_nothing_where_nobody_looks(capsys):
    with phase('Count', after=0):
        time.sleep(0.05)
    assert capsys.readouterr().err == ''
