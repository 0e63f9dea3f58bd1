"""A headless Chromium for the tests that look at pages."""

import os
import shutil
import tempfile

import pytest

CHROMIUM = '/usr/bin/chromium'
FLAGS = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
]


@pytest.fixture(scope='session')
def chromium():
    """A browser context; the test is skipped where there is no browser."""
    playwright = pytest.importorskip(
        'playwright.sync_api', reason='playwright is not installed'
    )
    executable = os.environ.get('CHROMIUM', CHROMIUM)
    if not shutil.which(executable):
        pytest.skip(f'no Chromium at {executable}')
    with (
        playwright.sync_playwright() as driver,
        tempfile.TemporaryDirectory() as profile,
    ):
        context = driver.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            headless=True,
            args=FLAGS,
            viewport={'width': 1280, 'height': 900},
        )
        yield context
        context.close()


@pytest.fixture(scope='module')
def open_page(chromium):
    """Open a file; return the page and a list of what must not happen.

    The list receives console messages, errors, and requests that leave the
    file.
    """

    def open_page(path):
        page, faults = chromium.new_page(), []
        page.set_default_timeout(20000)
        page.on('console', lambda m: faults.append(f'console: {m.text}'))
        page.on('pageerror', lambda e: faults.append(f'error: {e}'))
        page.on('request', lambda r: _foreign(r.url, faults))
        page.goto(path.as_uri())
        return page, faults

    return open_page


def _foreign(url, faults):
    if not url.startswith(('file:', 'data:')):
        faults.append(f'request: {url}')
