"""The tutorial runs as written, and finds and mends the error it plants."""

import json

import pytest


def test_tutorial(repo_root, tmp_path, monkeypatch):
    pytest.importorskip('jinja2')
    pytest.importorskip('PIL')
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((repo_root / 'docs/tutorial.ipynb').read_text())
    names = {}
    for cell in notebook['cells']:
        if cell['cell_type'] == 'code':
            exec(''.join(cell['source']), names)  # a file of this repository
    costs = names['costs']
    assert max(costs, key=costs.get) == 'Gloves'
    assert names['comparison'].significant == [('mended', 'before')]
    assert 'How good is mended?' in (tmp_path / 'report.html').read_text()
