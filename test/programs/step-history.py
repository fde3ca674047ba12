# test/programs/step-history.py - a trace of a program that fails, as gdb's `record instruction-history` prints it; run by gdb:
#   gdb -nx -batch -x step-history.py PROGRAM
# Steps PROGRAM from main, one instruction at a time, until a signal ends it. Writes `history`; the failure becomes the
# core dump `dump`.
import gdb

for setting in ("confirm off", "pagination off", "style enabled off"):
    gdb.execute("set " + setting)
failures = []
gdb.events.stop.connect(lambda e: isinstance(e, gdb.SignalEvent) and failures.append(e))
gdb.execute("break *main")
gdb.execute("run > /dev/null")
with open("history", "w") as history:
    number = 0
    while not failures:
        number += 1
        history.write("%d\t   %s" % (number, gdb.execute("x/i $pc", to_string=True).lstrip("=> ")))
        gdb.execute("stepi", to_string=True)
gdb.execute("generate-core-file dump")
