"""Sizes of image files that claim too much."""

import struct
import zlib

import pytest

from mmdet_cppe5.images import image_size


def test_a_claim_of_gigapixels_is_a_sentence():
    """Found by scripts/fuzz_files.py; Pillow's own error is no ValueError."""
    header = struct.pack('>IIBBBBB', 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = b'IHDR' + header
    png = b'\x89PNG\r\n\x1a\n' + struct.pack('>I', 13) + chunk
    png += struct.pack('>I', zlib.crc32(chunk))
    with pytest.raises(ValueError, match='readable image in a.png'):
        image_size(png, 'a.png')
