"""Writes a PNG of 8-bit colours again with a palette, a fraction of its size."""

import collections
import itertools
import struct
import zlib

HEADER = b"\x89PNG\r\n\x1a\n"
CLOSE = 12  # squared distance of two colours that nobody tells apart


def chunks(data):
    """The chunks of a PNG: type and content."""
    place = len(HEADER)
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        yield kind, data[place + 8:place + 8 + length]
        place += length + 12


def unfiltered(rows, width):
    """Undoes the filters of PNG (RFC 2083, section 6); rows of `width` bytes behind a byte that names the filter."""
    above = bytearray(width)
    for begin in range(0, len(rows), width + 1):
        kind, row = rows[begin], bytearray(rows[begin + 1:begin + 1 + width])
        for i in range(width):
            left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + above[i]) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + above[i]) // 2) & 255
            elif kind == 4:
                guess = left + above[i] - corner
                _, nearest = min(((abs(guess - b), n) for n, b in enumerate((left, above[i], corner))))
                row[i] = (row[i] + (left, above[i], corner)[nearest]) & 255
        yield bytes(row)
        above = row


def distance(one, other):
    """The squared distance of two colours."""
    return sum((a - b) ** 2 for a, b in zip(one, other))


def with_palette(data):
    """The same picture with at most 256 colours: the most frequent ones that are not close to another."""
    parts = list(chunks(data))
    width, height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
    if (depth, colour) != (8, 2):
        raise ValueError("not a PNG with 8 bits for each of red, green and blue")
    packed = b"".join(content for kind, content in parts if kind == b"IDAT")
    rows = unfiltered(zlib.decompress(packed), 3 * width)
    pixels = [[row[i:i + 3] for i in range(0, 3 * width, 3)] for row in rows]
    counts = collections.Counter(itertools.chain.from_iterable(pixels))
    kept, place = [], {}
    for colour, _ in counts.most_common():
        nearest = min(range(len(kept)), key=lambda n: distance(kept[n], colour), default=None)
        if nearest is None or (distance(kept[nearest], colour) > CLOSE and len(kept) < 256):
            nearest = len(kept)
            kept.append(colour)
        place[colour] = nearest
    lines = b"".join(b"\0" + bytes(place[pixel] for pixel in row) for row in pixels)
    content = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", b"".join(kept)),
               (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return HEADER + b"".join(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
                             for kind, body in content)
