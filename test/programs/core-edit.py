#!/usr/bin/env python3
"""core-edit.py CORE TO WHAT [N] - a core dump that was changed, for tests of its readers.

threads N    N more threads, copies of the last one with other numbers
headers      as many program headers as a file of 16 exabytes has
segments     every segment's lengths are 2^60 bytes
notes        every note's lengths are 2^32 - 1
files        the list of mapped files has 2^60 entries
unmapped     no list of mapped files
vdso         other code in the kernel's own page, as another kernel has it
"""
import struct
import sys

core, to, what = sys.argv[1:4]
data = bytearray(open(core, 'rb').read())
phoff, = struct.unpack_from('<Q', data, 32)
phnum, = struct.unpack_from('<H', data, 56)
heads = [(phoff + 56 * i, *struct.unpack_from('<IIQQQQ', data, phoff + 56 * i)) for i in range(phnum)]
note_at, note_offset, note_size = next((h[0], h[3], h[6]) for h in heads if h[1] == 4)


def notes():  # (at, type, content, size) of each
    at = note_offset
    while at < note_offset + note_size:
        name, size, kind = struct.unpack_from('<III', data, at)
        content = at + 12 + (name + 3 & ~3)
        yield at, kind, content, size
        at = content + (size + 3 & ~3)


if what == 'threads':
    at, _, content, size = [n for n in notes() if n[1] == 1][-1]
    extra = bytearray()
    for i in range(int(sys.argv[4])):
        one = bytearray(data[at:content + (size + 3 & ~3)])
        struct.pack_into('<I', one, content - at + 32, 100000 + i)
        extra += one
    moved = len(data)
    data += data[note_offset:note_offset + note_size] + extra
    struct.pack_into('<Q', data, note_at + 8, moved)
    struct.pack_into('<Q', data, note_at + 32, note_size + len(extra))
elif what == 'headers':
    struct.pack_into('<H', data, 56, 0xffff)
    struct.pack_into('<Q', data, 40, len(data))
    data += struct.pack('<IIQQQQIIQQ', 0, 0, 0, 0, 0, 0, 0, 0xffffffff, 0, 0)
elif what == 'segments':
    for h in heads:
        if h[1] == 1:
            struct.pack_into('<QQ', data, h[0] + 32, 1 << 60, 1 << 60)
elif what == 'notes':
    for at, kind, content, size in list(notes()):
        struct.pack_into('<I', data, at + 4, 0xffffffff)
elif what in ('files', 'unmapped'):
    at, kind, content, size = next(n for n in notes() if n[1] == 0x46494c45)
    struct.pack_into('<Q', data, content, 1 << 60 if what == 'files' else 0)
elif what == 'vdso':
    at, kind, content, size = next(n for n in notes() if n[1] == 6)
    pairs = [struct.unpack_from('<QQ', data, content + i) for i in range(0, size, 16)]
    start = next(v for k, v in pairs if k == 33)
    offset = next(h[3] for h in heads if h[1] == 1 and h[4] == start)
    for i in range(0x600, 0xa00):
        data[offset + i] ^= 0x5a
else:
    sys.exit(__doc__)
open(to, 'wb').write(data)
