"""One rule for which picture a name means."""

import pytest

from mmdet_cppe5.image_names import ImageFolder, NameIndex, inner_name


@pytest.fixture
def pictures(tmp_path):
    root = tmp_path / 'images'
    for name in ('a.jpg', 'sub/b.jpg', 'left/c.jpg', 'right/c.jpg', 'd é.jpg'):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b'x')
    (root / '._a.jpg').write_bytes(b'x')
    (tmp_path / 'secret.jpg').write_bytes(b'x')
    return ImageFolder(root)


@pytest.mark.parametrize(
    ('name', 'found'),
    [
        ('a.jpg', 'a.jpg'),
        ('./a.jpg', 'a.jpg'),
        ('sub\\b.jpg', 'sub/b.jpg'),
        ('b.jpg', 'sub/b.jpg'),
        ('images\\b.jpg', 'sub/b.jpg'),
        ('C:\\data\\a.jpg', 'a.jpg'),
        ('\\\\server\\share\\a.jpg', 'a.jpg'),
        ('/data/upload/3/0a1b2c3d-a.jpg', 'a.jpg'),
        ('0a1b2c3d-b.jpg', 'sub/b.jpg'),
        ('..\\..\\a.jpg', 'a.jpg'),
        ('../images/a.jpg', 'a.jpg'),
        ('A.JPG', None),
        ('d%20%C3%A9.jpg', 'd é.jpg'),
        ('left/c.jpg', 'left/c.jpg'),
        ('x/left/../left\\c.jpg', None),  # two pictures are called c.jpg
        ('c.jpg', None),
        ('../secret.jpg', None),
        ('..\\secret.jpg', None),
        ('secret.jpg', None),
        ('none.jpg', None),
        ('', None),
        ('..', None),
        ('/', None),
        ('a\0.jpg', None),
        ('x' * 5000, None),
    ],
)
def test_pictures_are_found_and_never_outside(pictures, name, found):
    path = pictures.find(name)
    expected = None if found is None else pictures.folder / found
    assert path == expected


def test_absolute_paths_do_not_leave_the_folder(pictures):
    secret = pictures.folder.parent / 'secret.jpg'
    assert pictures.find(str(secret)) is None
    assert pictures.find(str(pictures.folder / 'a.jpg')) == (
        pictures.folder / 'a.jpg'
    )


def test_a_name_as_it_stands_goes_before_a_similar_one():
    index = NameIndex(['a.jpg', 'A.jpg', '0a1b2c3d-a.jpg'])
    for name in ('a.jpg', 'A.jpg', '0a1b2c3d-a.jpg'):
        assert index.find(name) == name
        assert index.find(f'sub\\{name}') == name
    assert inner_name('C:\\x\\..\\y.jpg') == 'x/y.jpg'
