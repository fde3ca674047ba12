# run/plait.py - commands for gdb while it debugs a replay; `help plait` lists them.
#
# A replay does the same every time, down to addresses. So going back is running again and stopping
# earlier, and who changed a value is found by running again with a watchpoint on its address.
# Events are counted in rt_steps; a hardware watchpoint on it stops at a chosen event.
import gdb


def value(text):
    try:
        return gdb.parse_and_eval(text)
    except gdb.error:
        raise gdb.GdbError("not under control yet: start the program first")


def event():
    return int(value("rt_steps"))


def in_runtime(frame):
    where = frame.find_sal().symtab
    return where is None or where.filename.replace("./", "", 1).startswith(("rt/", "sched/"))


def user_frame():
    """The innermost frame of the program's own code."""
    frame = gdb.newest_frame()
    while frame is not None and in_runtime(frame):
        frame = frame.older()
    return frame


def user_place():
    frame = user_frame()
    sal = frame.find_sal() if frame is not None else None
    if sal is None or sal.symtab is None:
        return "?"
    return "%s at %s:%d" % (frame.name(), sal.symtab.filename, sal.line)


def show_user_frame():
    frame = user_frame()
    if frame is not None:
        frame.select()
        gdb.execute("frame")


def is_alive():
    return gdb.selected_inferior().pid != 0


class AtMain(gdb.Breakpoint):
    """Stops in main(): in the version that runs, not in the stub that chooses it."""

    def __init__(self):
        super().__init__("main", internal=True)
        self.silent = True
        self.has_lines = any(l.source for l in getattr(self, "locations", []))

    def stop(self):
        return not self.has_lines or gdb.newest_frame().find_sal().symtab is not None


class AtEnd(gdb.Breakpoint):
    """Stops where a recording of mode sync ends: the process was killed there, and nobody knows more."""

    def __init__(self):
        super().__init__("control_log_ended", internal=True)
        self.silent = True

    def stop(self):
        print("the recording ends here")
        return True


def restart():
    """Run again, up to main()."""
    gdb.execute("set confirm off")
    if is_alive():
        gdb.execute("kill", to_string=True)
    at_main = AtMain()
    try:
        gdb.execute("run", to_string=True)
    finally:
        at_main.delete()
    if not is_alive():
        raise gdb.GdbError("the program did not get to main()")


class Counter(gdb.Breakpoint):
    """Stops when so many events have run."""

    def __init__(self, wanted):
        super().__init__("rt_steps", gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.silent = True
        self.wanted = wanted

    def stop(self):
        return event() >= self.wanted


class Switches(gdb.Breakpoint):
    """Counts hand-overs from thread to thread; stops at those from `first` on."""

    def __init__(self, first, keep):
        super().__init__("gate_arrived", internal=True)
        self.silent = True
        self.first = first
        self.keep = keep

    def stop(self):
        self.keep.append(event())
        return event() >= self.first


def go_on(*breakpoints):
    """Continue until one of our own breakpoints, or the program, stops."""
    theirs = [b for b in gdb.breakpoints() if b.enabled and b not in breakpoints]
    for b in theirs:
        b.enabled = False
    try:
        gdb.execute("continue", to_string=True)
    finally:
        for b in theirs:
            b.enabled = True
        for b in breakpoints:
            if b.is_valid():
                b.delete()


def go_to(wanted):
    if wanted < 0:
        raise gdb.GdbError("events count from 0")
    if not is_alive() or event() > wanted:
        restart()
    if event() < wanted:
        go_on(Counter(wanted))
    if not is_alive() or event() < wanted:
        raise gdb.GdbError("the program ended before event %d" % wanted)


class Plait(gdb.Command):
    """The schedule of this replay."""

    def __init__(self):
        super().__init__("plait", gdb.COMMAND_USER, prefix=True)


class Where(gdb.Command):
    """How many events have run, which thread runs, how many switches are behind us."""

    def __init__(self):
        super().__init__("plait where", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        a = value("control.area")
        following = int(value("control.next_step"))
        print("event %d, thread %d runs, %d switches so far, %s" % (
            event(), int(a["current"]), int(a["switches"]),
            "none comes any more" if following >= 2**63 else "next one after event %d" % following))


class NextSwitch(gdb.Command):
    """Continue until another thread goes on."""

    def __init__(self):
        super().__init__("plait next-switch", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        value("control.area")
        b = gdb.Breakpoint("gate_arrived", internal=True, temporary=True)
        b.silent = True
        gdb.execute("continue")
        gdb.execute("plait where")


class GoTo(gdb.Command):
    """plait goto N: stop when N events have run, forwards or backwards."""

    def __init__(self):
        super().__init__("plait goto", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        try:
            wanted = int(arg, 0)
        except ValueError:
            raise gdb.GdbError("plait goto N: which event? `plait where' says where we are")
        go_to(wanted)
        gdb.execute("plait where")
        show_user_frame()


class Back(gdb.Command):
    """plait back [N]: to the switch before this one, or N switches back, by running again."""

    def __init__(self):
        super().__init__("plait back", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        here = event()
        switches = []
        restart()
        while is_alive() and event() < here:
            go_on(Switches(here, switches), Counter(here))
        behind = [s for s in switches if s < here]
        n = int(arg or "1", 0)
        if n < 1 or n > len(behind):
            raise gdb.GdbError("there are %d switches before event %d" % (len(behind), here))
        go_to(behind[-n])
        gdb.execute("plait where")
        show_user_frame()


class Lane(gdb.Breakpoint):
    """Remembers who goes on at each hand-over, and where."""

    def __init__(self, found):
        super().__init__("gate_arrived", internal=True)
        self.silent = True
        self.found = found

    def stop(self):
        self.found.append((event(), int(value("control.area")["current"]), user_place()))
        return False


class Lanes(gdb.Command):
    """plait lanes [N]: the last N (20) hand-overs before now as lanes, one column per thread, by running again.
The replay then stands here again."""

    def __init__(self):
        super().__init__("plait lanes", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        here = event()
        found = []
        restart()
        if event() < here:
            go_on(Lane(found), Counter(here))
        shown = found[-int(arg or "20", 0):]
        threads = sorted({t for _, t, _ in shown})
        for at, thread, place in shown:
            print("%6d  %s  %d  %s" % (at, "".join("●" if t == thread else "·" for t in threads), thread, place))
        print("%d of %d hand-overs before event %d; columns: threads %s" % (
            len(shown), len(found), here, " ".join(str(t) for t in threads)))


class Writes(gdb.Breakpoint):
    """Remembers when a place in memory was written, and by whom."""

    def __init__(self, expression, found):
        super().__init__(expression, gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.silent = True
        self.found = found

    def stop(self):
        self.found.append((event(), int(value("control.area")["current"]), user_place()))
        return False


class WhoWrote(gdb.Command):
    """plait who-wrote EXPR: the last write before now that changed this place, by running again.
The replay then stands here again. A write of the value that was there already is not seen."""

    def __init__(self):
        super().__init__("plait who-wrote", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        if not arg:
            raise gdb.GdbError("plait who-wrote EXPR: of which variable?")
        place = gdb.parse_and_eval(arg)
        if place.address is None:
            raise gdb.GdbError("%s has no address" % arg)
        here = event()
        typename = {1: "char", 2: "short", 4: "int"}.get(place.type.sizeof, "long")
        expression = "*(%s *)%#x" % (typename, int(place.address))
        found = []
        restart()
        if event() < here:
            go_on(Writes(expression, found), Counter(here))
        if not found:
            print("%s has not changed before event %d" % (arg, here))
        else:
            print("%s was last changed after event %d by thread %d, in %s; `plait goto %d' goes there" % (
                arg, found[-1][0], found[-1][1], found[-1][2], found[-1][0]))


def end_of_run():
    """(kind, text) of a run that the runtime is about to end: a deadlock, a hang, a divergence."""
    end = str(value("(enum plait_control_end)control.area->end")).replace("PLAIT_END_", "").lower()
    return {"budget": "hang"}.get(end, end), value("control.area->text").string()


class Ending(gdb.Breakpoint):
    """A run that does not end by itself stops before its process is gone."""

    def __init__(self):
        super().__init__("control_leave", internal=True)
        self.silent = True

    def stop(self):
        gdb.write("%s: %s\n" % end_of_run())
        return True


class Threads(gdb.Command):
    """Every live thread, and what it is about to do."""

    def __init__(self):
        super().__init__("plait threads", gdb.COMMAND_USER)

    def invoke(self, arg, tty):
        current = int(value("control.area")["current"])
        for i in range(int(value("control.nalive"))):
            t = value("control_alive[%d]" % i)
            wait = t["op"]["wait"]
            what = wait["what"].string() if int(wait) else "to go on"
            own = int(t["task"]["id"])
            print("%s thread %d, waits %s, %d events done" % (
                "*" if own == current else " ", own, what if own != current else "for nothing", int(t["events"])))


Plait()
Where()
NextSwitch()
GoTo()
Back()
WhoWrote()
Lanes()
Threads()
gdb.execute("set pagination off")
gdb.execute("set breakpoint pending on")
gdb.execute("handle SIGSTOP nostop noprint pass")
gdb.execute("skip -gfi rt/*/*", to_string=True)
gdb.execute("skip -gfi sched/*", to_string=True)
Ending()
AtEnd()
