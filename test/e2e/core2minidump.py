#!/usr/bin/env python3
"""core2minidump.py CORE MINIDUMP [--full] [--bare] [--cmdline WORD...]: a core dump as a minidump, laid out as the
format's documentation has it. Stacks only, as Breakpad does by default; --full: all memory (Memory64List); --bare: none
of the streams that only Linux has, as Crashpad does (regions instead of /proc/PID/maps, first module = program)."""
import struct
import sys

NT_PRSTATUS, NT_AUXV, NT_SIGINFO, NT_FILE = 1, 6, 0x53494749, 0x46494c45
AT_PHDR, AT_ENTRY = 3, 9


class Core:
    def __init__(self, path):
        d = self.data = open(path, 'rb').read()
        off, num = struct.unpack_from('<Q', d, 32)[0], struct.unpack_from('<H', d, 56)[0]
        self.loads, self.threads, self.files, self.auxv, self.siginfo = [], [], [], b'', None
        for i in range(num):
            kind, flags, at, addr, _, filesz, memsz, _ = struct.unpack_from('<IIQQQQQQ', d, off + 56 * i)
            if kind == 1:
                self.loads.append((addr, memsz, min(filesz, max(0, len(d) - at)), at, flags))
            elif kind == 4:
                self.notes(d[at:at + filesz])

    def notes(self, d):
        at = 0
        while at + 12 <= len(d):
            namesz, descsz, kind = struct.unpack_from('<III', d, at)
            body = at + 12 + (namesz + 3 & ~3)
            desc = d[body:body + descsz]
            at = body + (descsz + 3 & ~3)
            if kind == NT_PRSTATUS:
                self.threads.append((struct.unpack_from('<i', desc, 32)[0], struct.unpack_from('<27Q', desc, 112)))
            elif kind == NT_AUXV:
                self.auxv = desc
            elif kind == NT_SIGINFO:
                self.siginfo = self.siginfo or desc
            elif kind == NT_FILE:
                n, page = struct.unpack_from('<QQ', desc)
                names = desc[16 + 24 * n:].split(b'\0')
                for i in range(n):
                    s, e, o = struct.unpack_from('<QQQ', desc, 16 + 24 * i)
                    self.files.append((s, e, o * page, names[i].decode()))

    def read(self, addr, n):
        for a, _, there, at, _ in self.loads:
            if a <= addr and addr + n <= a + there:
                return self.data[at + addr - a:at + addr - a + n]
        return None

    def stack(self, sp):
        for a, _, there, at, _ in self.loads:
            if a <= sp < a + there:
                low = max(a, sp - 128 & ~0xfff)
                return low, self.data[at + low - a:at + there]
        return sp, b''

    def aux(self, key):
        for i in range(0, len(self.auxv) - 15, 16):
            k, v = struct.unpack_from('<QQ', self.auxv, i)
            if k == key:
                return v
        return 0

    def modules(self):
        """(low, high, path, build-id), the program first"""
        found = []
        for s, e, o, path in self.files:
            head = self.read(s, 64) if o == 0 else None
            if not head or head[:4] != b'\x7fELF':
                continue
            high = max([e] + [f[1] for f in self.files if f[3] == path and f[0] >= s])
            phoff, phnum = struct.unpack_from('<Q', head, 32)[0], struct.unpack_from('<H', head, 56)[0]
            build = b''
            for i in range(phnum):
                ph = self.read(s + phoff + 56 * i, 56)
                kind, _, off, _, _, size = struct.unpack_from('<IIQQQQ', ph)
                notes = self.read(s + off, size) if kind == 4 else None
                at = 0
                while notes and at + 12 <= len(notes):
                    namesz, descsz, kind = struct.unpack_from('<III', notes, at)
                    body = at + 12 + (namesz + 3 & ~3)
                    if kind == 3 and notes[at + 12:at + 16] == b'GNU\0':
                        build = notes[body:body + descsz]
                    at = body + (descsz + 3 & ~3)
            found.append((s, high, path, build))
        entry = self.aux(AT_ENTRY)
        return sorted(found, key=lambda m: not m[0] <= entry < m[1])


class Minidump:
    def __init__(self):
        self.out, self.streams = bytearray(32 + 12 * 16), []

    def put(self, data):
        at = len(self.out)
        self.out += data + b'\0' * (-len(data) % 8)
        return len(data), at  # as a location: size, position

    def stream(self, kind, data):
        self.streams.append((kind,) + self.put(data))

    def string(self, text):
        raw = text.encode('utf-16-le')
        return self.put(struct.pack('<I', len(raw)) + raw + b'\0\0')[1]

    def save(self, path):
        struct.pack_into('<4sIIIIIQ', self.out, 0, b'MDMP', 0xa793, len(self.streams), 32, 0, 0, 0)
        for i, s in enumerate(self.streams):
            struct.pack_into('<III', self.out, 32 + 12 * i, *s)
        open(path, 'wb').write(self.out)


def context(r):
    (r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, _, rip, cs, flags, rsp, ss) = r[:21]
    return struct.pack('<48xIIHHHHHHI48x', 0x10000f, 0x1f80, cs, 0, 0, 0, 0, ss, flags) + struct.pack(
        '<17Q', rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, rip) + b'\0' * (1232 - 256)


def main():
    args = sys.argv[1:]
    words = args[args.index('--cmdline') + 1:] if '--cmdline' in args else []
    core, m, full, bare = Core(args[0]), Minidump(), '--full' in args, '--bare' in args
    m.stream(7, struct.pack('<HHHBBIIIIIHH', 9, 6, 0, 2, 0, 5, 0, 0, 0x8201, m.string(''), 0, 0) + b'\0' * 24)
    raw, memory = b'', []
    contexts = [m.put(context(r)) for _, r in core.threads]
    for (tid, r), where in zip(core.threads, contexts):
        low, stack = core.stack(r[19])
        piece = (0, 0) if full else m.put(stack)
        memory.append((low, piece))
        raw += struct.pack('<IIIIQQIIII', tid, 0, 0, 0, r[21] if bare else 0, low, *piece, *where)
    m.stream(3, struct.pack('<I', len(core.threads)) + raw)
    raw = b''
    for low, high, path, build in core.modules():
        identity = m.put(b'LEpB' + build) if build else (0, 0)
        raw += struct.pack('<QIIII52xIIII16x', low, high - low, 0, 0, m.string(path), *identity, 0, 0)
    m.stream(4, struct.pack('<I', len(raw) // 108) + raw)
    if core.siginfo:
        signo, _, code = struct.unpack_from('<iii', core.siginfo)
        address = struct.unpack_from('<Q', core.siginfo, 16)[0] if code > 0 else 0
        m.stream(6, struct.pack('<IIIiQQII120xII', core.threads[0][0], 0, signo, code, 0, address, 0, 0, *contexts[0]))
    if bare:
        pages = {1: 0x10, 4: 2, 5: 0x20, 6: 4, 7: 0x40}
        raw = b''.join(struct.pack('<QQIIQIIII', a, a, 0, 0, n, 0x1000, pages.get(f, 1), 0x20000, 0)
                       for a, n, _, _, f in core.loads)
        m.stream(16, struct.pack('<IIQ', 16, 48, len(core.loads)) + raw)
    else:
        lines = ''
        for a, n, _, _, f in core.loads:
            path, off = next(((p, o + a - s) for s, e, o, p in core.files if s <= a < e), ('', 0))
            perms = ''.join(c if f & bit else '-' for c, bit in (('r', 4), ('w', 2), ('x', 1)))
            lines += '%x-%x %sp %08x 08:01 7 %s\n' % (a, a + n, perms, off, path)
        m.stream(0x47670009, lines.encode())
        m.stream(0x47670008, core.auxv)
        m.stream(0x47670004, b'Name:\tprogram\nPid:\t7\n')
        if words:
            m.stream(0x47670006, b''.join(w.encode() + b'\0' for w in words))
    if full:
        there = [(a, t, at) for a, _, t, at, _ in core.loads if t]
        raw = struct.pack('<QQ', len(there), 0) + b''.join(struct.pack('<QQ', a, t) for a, t, _ in there)
        size, at = m.put(raw)
        struct.pack_into('<Q', m.out, at + 8, len(m.out))
        m.streams.append((9, size, at))
        for _, t, from_ in there:
            m.out += core.data[from_:from_ + t]
    else:
        m.stream(5, struct.pack('<I', len(memory)) + b''.join(struct.pack('<QII', low, *p) for low, p in memory))
    m.save(args[1])


main()
