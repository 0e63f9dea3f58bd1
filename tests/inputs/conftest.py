"""What the tests of odd inputs share."""

import pytest
from world import Folder


@pytest.fixture
def folder(tmp_path, capsys):
    """A folder to write inputs to and run commands on."""
    return Folder(tmp_path, capsys)
