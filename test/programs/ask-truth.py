# test/programs/ask-truth.py - what really happened, for tests of `unplait rewind --ask`; run by gdb:
#   gdb -nx -batch -x ask-truth.py PROGRAM
# Steps PROGRAM from main, one instruction at a time, until it fails. Writes truth.json: the values of variables when each
# instruction ran for the last time, and for each watched expression (environment WATCH, one per line) the instructions that changed it.
# The failure becomes the core dump `dump`.
import json
import os

import gdb

gdb.execute("set confirm off")
gdb.execute("set pagination off")
gdb.execute("set style enabled off")
gdb.execute("break *main")
gdb.execute("run > /dev/null")
watch = [w for w in os.environ.get("WATCH", "").split("\n") if w]
source = gdb.selected_frame().find_sal().symtab.filename
low = high = None
for line in gdb.execute("info proc mappings", to_string=True).splitlines():
    words = line.split()
    if len(words) > 4 and words[-1] == gdb.current_progspace().filename and "x" in words[4]:
        low, high = int(words[0], 0), int(words[1], 0)


def value(v):
    """As unplait writes it; None for what is not compared."""
    if v.is_optimized_out:
        return None
    t = v.type.strip_typedefs()
    if t.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_CHAR):
        return str(int(v))
    if t.code == gdb.TYPE_CODE_PTR:
        return hex(int(v))
    return None


def variables(frame):
    found = {}
    block = frame.block()
    while block and not block.is_global and not block.is_static:
        for s in block:
            if (s.is_variable or s.is_argument) and s.name not in found:
                try:
                    found[s.name] = value(s.value(frame))
                except gdb.error:
                    found[s.name] = None
        if block.function:
            break
        block = block.superblock
    return {k: v for k, v in found.items() if v is not None}


def look(expression):
    try:
        return bytes(gdb.selected_inferior().read_memory(*places[expression]))
    except gdb.error:
        return b""


inferior = gdb.selected_inferior()
moments, writers, places = {}, {w: [] for w in watch}, {}
for w in list(watch):
    try:
        v = gdb.parse_and_eval(w)
        places[w] = (int(v.address), v.type.sizeof)
    except (gdb.error, TypeError):  # optimised out
        watch.remove(w)
before = {w: look(w) for w in watch}
steps = 0
while steps < 20000:
    frame = gdb.newest_frame()
    pc = frame.pc()
    if not low <= pc < high:  # a library: to its return
        gdb.execute("finish", to_string=True)
        continue
    sal = frame.find_sal()
    if sal.symtab and sal.symtab.filename == source:
        moments[hex(pc)] = variables(frame)
    gdb.execute("stepi", to_string=True)
    steps += 1
    for w in watch:
        now = look(w)
        if now != before[w]:
            place = "%s:%d" % (os.path.basename(source), sal.line)
            writers[w].append(place)
            before[w] = now
    if not gdb.selected_thread().is_valid() or gdb.newest_frame().pc() == pc:
        break  # the failing instruction
gdb.execute("gcore dump", to_string=True)
json.dump({"moments": moments, "writers": writers, "steps": steps}, open("truth.json", "w"))
gdb.execute("kill")
