"""The package is a house: an import goes down, never up or sideways."""

import ast
from pathlib import Path

import mmdet_cppe5

PACKAGE = Path(mmdet_cppe5.__file__).parent

# From the ground up. What stands on one floor does not know its neighbours.
FLOORS = [
    ['__init__', 'classes'],
    ['files', 'framework', 'names', 'progress'],
    ['image_names'],
    ['paths', 'images', 'download'],
    ['core'],
    ['coco'],
    ['annotation_file', 'samples', 'scores', 'figures', 'drawn'],
    ['data', 'zoo'],
    ['deepfashion2'],
    ['datasets', 'metrics', 'models', 'benchmark'],
    ['reports'],
    ['engine'],
    ['plugin', 'cli', 'api'],
    ['__main__'],
]
FLOOR = {room: height for height, rooms in enumerate(FLOORS) for room in rooms}


def room_of(path):
    return path.relative_to(PACKAGE).with_suffix('').parts[0]


def imported_rooms(path):
    """Return each room that a file imports, with the line it does so in."""
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}:{node.lineno}: relative import'
            if node.module == 'mmdet_cppe5':
                names = [f'mmdet_cppe5.{alias.name}' for alias in node.names]
            else:
                names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split('.')
            if parts[0] == 'mmdet_cppe5' and len(parts) > 1:
                room = parts[1] if parts[1] in FLOOR else '__init__'
                yield room, node.lineno


def files():
    return sorted(PACKAGE.rglob('*.py'))


def test_every_room_has_a_floor():
    assert {room_of(path) for path in files()} - {'.mim'} == set(FLOOR)


def test_imports_go_down():
    climbing = [
        f'{path.relative_to(PACKAGE)}:{line}: {room_of(path)} -> {room}'
        for path in files()
        if room_of(path) != '.mim'
        for room, line in imported_rooms(path)
        if room != room_of(path) and FLOOR[room] >= FLOOR[room_of(path)]
    ]
    assert climbing == []


def test_every_folder_of_modules_is_a_package():
    # A wheel leaves out what is none, while a clone imports it all the same.
    folders = {path.parent for path in files() if room_of(path) != '.mim'}
    assert [
        f for f in sorted(folders) if not (f / '__init__.py').is_file()
    ] == []
