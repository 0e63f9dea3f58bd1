"""Synthetic detections, and a headless Chromium, for the reports' tests."""

import contextlib
import os
import shutil
import tempfile

import numpy as np
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


def jittered(truth, seed=0, miss=0.1, wrong=0.08, spread=0.06, junk=4):
    """Detections that a fair detector might make of a ground truth.

    Each object is missed with probability ``miss``, called another class
    with ``wrong``, and its box shaken by ``spread`` of its size, four times
    as much for one in eight; each image gets about ``junk`` false alarms.
    """
    rng = np.random.default_rng(seed)
    classes = [category['id'] for category in truth['categories']]
    found = []
    for item in truth['annotations']:
        if rng.uniform() < miss:
            continue
        x, y, w, h = item['bbox']
        shake = spread * (4 if rng.uniform() < 1 / 8 else 1)
        moves = rng.normal(0, shake, 4)
        box = [x + w * moves[0], y + h * moves[1]]
        box += [w * np.exp(moves[2]), h * np.exp(moves[3])]
        label = item['category_id']
        if rng.uniform() < wrong:
            label = int(rng.choice(classes))
        found.append(
            _entry(item['image_id'], label, box, rng.beta(6, 2) - shake)
        )
    for image in truth['images']:
        for _ in range(rng.poisson(junk)):
            size = np.exp(rng.normal(3.5, 0.6, 2))
            corner = rng.uniform(0, [image['width'], image['height']])
            found.append(
                _entry(
                    image['id'],
                    int(rng.choice(classes)),
                    [*corner, *size],
                    rng.beta(1.2, 7),
                )
            )
    return found


def _entry(image_id, category_id, box, score):
    return {
        'image_id': image_id,
        'category_id': category_id,
        'bbox': [round(float(value), 2) for value in box],
        'score': round(float(np.clip(score, 0.01, 0.99)), 4),
    }


@contextlib.contextmanager
def browser_page(**context):
    """Open a page in headless Chromium, or skip where there is none.

    Yields the page and a list that receives whatever should not happen:
    console messages, errors, and requests that leave the file.
    """
    playwright = pytest.importorskip(
        'playwright.sync_api', reason='playwright is not installed'
    )
    executable = os.environ.get('CHROMIUM', CHROMIUM)
    if not shutil.which(executable):
        pytest.skip(f'no Chromium at {executable}')
    settings = {'viewport': {'width': 1280, 'height': 900}, **context}
    with (
        playwright.sync_playwright() as driver,
        tempfile.TemporaryDirectory() as profile,
    ):
        browser = driver.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            headless=True,
            args=FLAGS,
            **settings,
        )
        page, faults = browser.new_page(), []
        page.on('console', lambda m: faults.append(f'console: {m.text}'))
        page.on('pageerror', lambda e: faults.append(f'error: {e}'))
        page.on(
            'request',
            lambda r: (
                None
                if r.url.startswith(('file:', 'data:'))
                else faults.append(f'request: {r.url}')
            ),
        )
        page.set_default_timeout(20000)
        yield page, faults
        browser.close()
