# dap/dap.py - the Debug Adapter Protocol, spoken by gdb itself while it debugs a replay.
#
# gdb speaks the protocol from version 14 on, and of replays it knows nothing. This script runs in
# any gdb with Python, after run/plait.py. `unplait dap` has read messages up to `launch`; serve()
# answers that one and all that follow.
#
# Three threads: the reader takes messages in; gdb's own thread carries them out one by one, since
# gdb is not thread-safe; the third passes on what the program prints. A client that goes away, or
# says `disconnect`, ends gdb at once, and the kernel ends the program with it.
import json
import os
import queue
import re
import signal
import threading

import gdb

MOST_CHILDREN = 500  # of an array, or a container, in one answer
MOST_TEXT = 1000  # characters of a value
MOST_FRAMES = 200


class Refused(Exception):
    """What the client asked for cannot be done; the text says why."""


# ---- messages ----


class Wire:
    """Framed messages over two descriptors. Any thread may send."""

    def __init__(self, source, sink, seq):
        self.source = os.fdopen(source, "rb")
        self.sink = sink
        self.seq = seq
        self.lock = threading.Lock()

    def send(self, message):
        with self.lock:
            self.seq += 1
            message["seq"] = self.seq
            body = json.dumps(message).encode()
            data = b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            try:
                while data:
                    data = data[os.write(self.sink, data):]
            except OSError:
                os._exit(0)  # nobody listens

    def event(self, name, **body):
        self.send({"type": "event", "event": name, "body": body})

    def answer(self, request, body=None, refused=None):
        message = {"type": "response", "request_seq": request.get("seq", 0),
                   "command": request.get("command", ""), "success": refused is None}
        if refused is not None:
            message["message"] = refused
            message["body"] = {"error": {"id": 1, "format": refused, "showUser": True}}
        elif body is not None:
            message["body"] = body
        self.send(message)

    def receive(self):
        """The next message; None at the end, or when what comes is no message."""
        length = None
        while True:
            line = self.source.readline(1000)
            if not line.endswith(b"\n"):
                return None
            if not line.strip():
                break
            name, _, rest = line.partition(b":")
            if name.strip().lower() == b"content-length" and rest.strip().isdigit():
                length = int(rest)
        if length is None or length > 4 << 20:
            return None
        try:
            message = json.loads(self.source.read(length))
        except ValueError:
            return None
        return message if isinstance(message, dict) else None


# ---- what is looked at ----


def number(arguments, key, default=None):
    value = arguments.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused("%s: a number, please" % key)
    return value


def thread_of(ident):
    for t in gdb.selected_inferior().threads():
        if t.global_num == ident:
            return t
    raise Refused("there is no thread %d" % ident)


def thread_name(t):
    """As unplait's other reports name it: 0, 0.1, 0.1.2; and the function that it began in."""
    table = gdb.parse_and_eval("rt_run->threads")
    for i in range(int(gdb.parse_and_eval("rt_run->nthreads"))):
        if int(table[i]["kernel_tid"]) == t.ptid[1]:
            break
    else:
        return "thread"
    chain = []
    start = gdb.parse_and_eval("(void *)%d" % int(table[i]["entry"])) if i else None
    while i:
        chain.insert(0, str(int(table[i]["ordinal"])))
        i = int(table[i]["parent"])
    function = re.search(r"<([^>+]*)", str(start)) if start is not None else None
    return "thread %s%s" % (".".join(["0"] + chain),
                            " (%s)" % function.group(1).split("[")[0] if function else "")


def own_frames(thread):
    """(level, frame) of the program's frames, innermost first: without those of the runtime that
    stand at either end. All of them where there are no others."""
    thread.switch()
    frames = []
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < MOST_FRAMES:
        frames.append((len(frames), frame))
        frame = frame.older()
    inner = [i for i, (_, f) in enumerate(frames) if not in_runtime(f)]
    with_lines = [i for i in inner if frames[i][1].find_sal().symtab is not None]
    if not with_lines:
        return frames
    # libc's frames above an assertion have no lines in most systems: they stay
    first = inner[0] if frames[0][1].name() not in ("rt_syscall", "gate_arrived") else with_lines[0]
    return frames[first:with_lines[-1] + 1]


def source_of(symtab):
    path = symtab.fullname()
    return {"name": os.path.basename(path), "path": path} if os.path.exists(path) else None


def text_of(value):
    try:
        text = value.format_string(max_elements=64, raw=False)
    except (gdb.error, gdb.MemoryError, UnicodeDecodeError) as e:
        return "<%s>" % e
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " ..."


def plain_type(value):
    t = value.type.strip_typedefs()
    while t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        t = t.target().strip_typedefs()
    return t


def points_to_something(value, t):
    if t.code != gdb.TYPE_CODE_PTR:
        return False
    target = t.target().strip_typedefs()
    if target.code in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC):
        return False
    try:
        return not value.is_optimized_out and int(value) != 0
    except gdb.error:
        return False


def has_children(value):
    if value.is_optimized_out:
        return False
    visualizer = gdb.default_visualizer(value)
    if visualizer is not None:
        return hasattr(visualizer, "children")
    t = plain_type(value)
    return t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY) or \
        points_to_something(value, t)


def children(value):
    """(name, value) of the parts of a value."""
    visualizer = gdb.default_visualizer(value)
    if visualizer is not None:
        for i, (name, child) in enumerate(visualizer.children()):
            if i >= MOST_CHILDREN:
                return
            yield str(name), child if isinstance(child, gdb.Value) else gdb.Value(child)
        return
    t = plain_type(value)
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    if t.code == gdb.TYPE_CODE_PTR:
        yield "*", value.dereference()
    elif t.code == gdb.TYPE_CODE_ARRAY:
        low, high = t.range()
        for i in range(low, min(high + 1, low + MOST_CHILDREN)):
            yield "[%d]" % i, value[i]
    else:
        for field in t.fields():
            if hasattr(field, "bitpos"):  # no static member
                yield field.name or "<anonymous>", value[field]


def block_of(frame):
    try:
        return frame.block()
    except RuntimeError:  # no debug information
        return None


def locals_of(frame):
    block, seen = block_of(frame), set()
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if (symbol.is_variable or symbol.is_argument) and symbol.name not in seen:
                seen.add(symbol.name)
                yield symbol.name, symbol.value(frame)
        if block.function is not None:
            return
        block = block.superblock


def globals_of(frame):
    """Of the file that the frame's function is in: what threads share is mostly there. The plain
    version of a variable and the watched one (NAME[plait]) are the same memory."""
    block, seen = block_of(frame), set()
    if block is None:
        return
    own = frame.find_sal().symtab.filename
    for outer in (block.static_block, block.global_block):
        for symbol in outer:
            if symbol.is_variable and symbol.addr_class == gdb.SYMBOL_LOC_STATIC and \
                    symbol.symtab.filename == own and symbol.name not in seen:
                seen.add(symbol.name)
                yield symbol.name, symbol.value()


# ---- breakpoints ----


class UserBreakpoint(gdb.Breakpoint):
    """One that the client has set: a line, or a function. With `log` it prints and goes on."""

    def __init__(self, wire, wanted, **where):
        super().__init__(**where)
        self.silent = True
        self.wire = wire
        self.log = wanted.get("logMessage")
        if wanted.get("condition"):
            self.condition = wanted["condition"]
        hits = str(wanted.get("hitCondition") or "").strip()
        if hits.isdigit() and int(hits) > 0:
            self.ignore_count = int(hits) - 1

    def stop(self):
        if self.log is None:
            return True

        def shown(m):
            try:
                return text_of(gdb.parse_and_eval(m.group(1)))
            except gdb.error as e:
                return "<%s>" % e
        self.wire.event("output", category="console", output=re.sub(r"\{([^}]*)\}", shown, self.log) + "\n")
        return False

    def described(self):
        places = [l.source for l in self.locations if l.source] if not self.pending else []
        d = {"id": self.number, "verified": bool(places)}
        if places:
            d["line"] = places[0][1]
        else:
            d["message"] = "there is no code of this program"
        return d


# ---- the replay ----


class Session:
    def __init__(self, wire, launch):
        self.wire = wire
        self.launch = launch
        self.requests = queue.Queue()
        self.running = False  # inside `continue`: requests would wait
        self.pause = False
        self.stopped_by = None  # gdb's last stop event
        self.exit_code = None
        self.failure = None  # (kind, text) of the stop that is the failure
        self.breakpoints = {}  # of a file, or None for functions
        self.frames = []
        self.handles = []  # things with variables: (what, ...)
        gdb.events.stop.connect(self.on_stop)
        gdb.events.exited.connect(self.on_exit)

    def on_stop(self, e):
        self.stopped_by = e

    def on_exit(self, e):
        self.exit_code = getattr(e, "exit_code", None)

    # -- the reader's side --

    def read(self):
        while True:
            message = self.wire.receive()
            if message is None:
                os._exit(0)
            if message.get("type") != "request":
                continue
            command = message.get("command")
            if command in ("disconnect", "terminate"):
                self.wire.answer(message)
                if command == "terminate":
                    self.wire.event("terminated")
                os._exit(0)
            if command == "pause":
                self.pause = True
                self.wire.answer(message)
            else:
                self.requests.put(message)
            if self.running:
                self.interrupt()

    def interrupt(self):
        try:
            os.kill(self.pid, signal.SIGINT)  # gdb keeps it from the program
        except OSError:
            pass

    # -- moving --

    def forget(self):
        self.frames, self.handles, self.failure = [], [], None

    def execute(self, command):
        """A gdb command that may move the program. Its end is a stop, or the program's."""
        self.stopped_by = self.exit_code = None
        self.forget()
        return gdb.execute(command, to_string=True)

    def was_interrupted(self):
        return isinstance(self.stopped_by, gdb.SignalEvent) and self.stopped_by.stop_signal == "SIGINT"

    def go(self):
        """Continue to a breakpoint, the failure or the end. Requests are answered meanwhile."""
        self.pause = False
        while is_alive():
            self.pid = gdb.selected_inferior().pid
            self.running = True
            if self.requests.empty() and not self.pause:
                self.execute("continue")
            self.running = False
            if self.pause or (is_alive() and not self.was_interrupted() and self.stopped_by is not None):
                return
            while not self.requests.empty() and is_alive():
                self.carry_out(self.requests.get(), moving=True)

    def leave_runtime(self):
        """Out of the runtime, where a switch stops: up to the line of the program. False: something
        else has stopped us on the way."""
        frame = user_frame()
        if frame is None or frame == gdb.newest_frame():
            return frame is not None
        here = gdb.Breakpoint("*%#x" % frame.pc(), internal=True, temporary=True)
        here.thread = gdb.selected_thread().global_num
        here.silent = True
        number = here.number
        self.execute("continue")
        if here.is_valid():
            here.delete()
        return is_alive() and isinstance(self.stopped_by, gdb.BreakpointEvent) and \
            any(b.number == number for b in self.stopped_by.breakpoints)

    def step(self, command):
        if self.leave_runtime():
            self.execute(command)
        if is_alive() and not isinstance(self.stopped_by, (gdb.SignalEvent, gdb.BreakpointEvent)) and \
                user_frame() is None:
            go_on(Switches(event(), []))  # the thread is over: the next one

    def next_hit(self, limit):
        """Continue to a breakpoint of the client's with fewer than `limit` events behind it; False:
        none comes any more."""
        while is_alive() and event() < limit:
            self.execute("continue")
            if not isinstance(self.stopped_by, gdb.BreakpointEvent):
                return False
            if any(isinstance(b, UserBreakpoint) for b in self.stopped_by.breakpoints):
                return is_alive() and event() < limit
            if gdb.newest_frame().name() == "control_leave":
                return False
        return False

    def to_breakpoint_before(self):
        """To the last breakpoint that was hit before the current event, or before the failure; to
        main() where there is none. Once to count them, once to go there."""
        limit = event() + (1 if self.failure else 0)
        hits = 0
        restart()
        end = Counter(limit)
        while self.next_hit(limit):
            hits += 1
        if end.is_valid():
            end.delete()
        restart()
        self.stopped_by = None
        for _ in range(hits):
            self.next_hit(limit)

    # -- telling where we are --

    def find_failure(self):
        """(kind, text) when the program stands at its failure."""
        by = self.stopped_by
        if isinstance(by, gdb.SignalEvent) and by.stop_signal != "SIGINT":
            said = gdb.parse_and_eval("rt_run->failure.text").string() if by.stop_signal == "SIGABRT" else ""
            return by.stop_signal, said or "the program got %s" % by.stop_signal
        name = gdb.newest_frame().name()
        if name == "control_leave":
            return end_of_run()
        return None

    def tell_stop(self, reason):
        if not is_alive():
            self.wire.event("exited", exitCode=self.exit_code or 0)
            self.wire.event("terminated")
            return
        body = {"threadId": gdb.selected_thread().global_num, "allThreadsStopped": True}
        self.failure = self.find_failure()
        if self.failure:
            reason = "exception"
            body["description"] = "Failure: %s" % self.failure[0]
            body["text"] = self.failure[1]
        elif isinstance(self.stopped_by, gdb.BreakpointEvent):
            theirs = [b.number for b in self.stopped_by.breakpoints if isinstance(b, UserBreakpoint)]
            if theirs:
                reason = "breakpoint"
                body["hitBreakpointIds"] = theirs
        elif self.pause and self.was_interrupted():
            reason = "pause"
            self.select_running_thread(body)
        self.wire.event("stopped", reason=reason, **body)

    def select_running_thread(self, body):
        """The signal went to any thread; the one that runs is of interest."""
        try:
            current = int(gdb.parse_and_eval("control.area->current"))
            tid = int(gdb.parse_and_eval("rt_run->threads[%d].kernel_tid" % current))
        except gdb.error:
            return
        for t in gdb.selected_inferior().threads():
            if t.ptid[1] == tid:
                t.switch()
                body["threadId"] = t.global_num

    # -- requests: each returns the answer's body, and what to do once it is sent --

    def on_configurationDone(self, a):
        def start():
            restart()
            if self.launch.get("stopOnEntry"):
                self.stopped_by = None
                self.tell_stop("entry")
            else:
                self.go()
                self.tell_stop("breakpoint")
        return None, start

    def moved(self, move, reason):
        if not is_alive():
            raise Refused("the program does not run")

        def then():
            move()
            self.forget()
            self.tell_stop(reason)
        return None, then

    def on_continue(self, a):
        _, then = self.moved(self.go, "breakpoint")
        return {"allThreadsContinued": True}, then

    def on_next(self, a):
        return self.moved(lambda: self.step("next"), "step")

    def on_stepIn(self, a):
        return self.moved(lambda: self.step("step"), "step")

    def on_stepOut(self, a):
        return self.moved(lambda: self.step("finish"), "step")

    def on_stepBack(self, a):
        def back():
            try:
                gdb.execute("plait back", to_string=True)
            except gdb.error:  # no switch is before us
                restart()
            self.stopped_by = None
        return self.moved(back, "step")

    def on_reverseContinue(self, a):
        return self.moved(self.to_breakpoint_before, "entry")

    def on_restart(self, a):
        return self.on_configurationDone(a)

    def on_threads(self, a):
        threads = gdb.selected_inferior().threads() if is_alive() else ()
        chosen = gdb.selected_thread()
        answer = [{"id": t.global_num, "name": thread_name(t)} for t in sorted(threads, key=lambda t: t.num)]
        if chosen is not None and chosen.is_valid():
            chosen.switch()
        return {"threads": answer}, None

    def on_stackTrace(self, a):
        frames = own_frames(thread_of(number(a, "threadId")))
        first = number(a, "startFrame", 0)
        count = number(a, "levels", 0) or len(frames)
        shown = []
        for level, frame in frames[first:first + count]:
            sal = frame.find_sal()
            source = source_of(sal.symtab) if sal.symtab is not None else None
            self.frames.append((gdb.selected_thread(), level))
            one = {"id": len(self.frames), "name": (frame.name() or "%#x" % frame.pc()).split("[")[0],
                   "line": sal.line if source else 0, "column": 0,
                   "instructionPointerReference": "%#x" % frame.pc()}
            if source:
                one["source"] = source
            else:
                one["presentationHint"] = "subtle"
            shown.append(one)
        return {"stackFrames": shown, "totalFrames": len(frames)}, None

    def frame(self, ident):
        if not 0 < ident <= len(self.frames):
            raise Refused("that frame is gone")
        thread, level = self.frames[ident - 1]
        thread.switch()
        frame = gdb.newest_frame()
        for _ in range(level):
            frame = frame.older()
        frame.select()
        return frame

    def handle(self, *what):
        self.handles.append(what)
        return len(self.handles)

    def on_scopes(self, a):
        ident = number(a, "frameId")
        self.frame(ident)
        return {"scopes": [
            {"name": "Locals", "presentationHint": "locals", "expensive": False,
             "variablesReference": self.handle("locals", ident)},
            {"name": "Globals of this file", "expensive": False,
             "variablesReference": self.handle("globals", ident)}]}, None

    def variable(self, name, value):
        return {"name": name, "value": text_of(value), "type": str(value.type),
                "variablesReference": self.handle("value", value) if has_children(value) else 0}

    def on_variables(self, a):
        ident = number(a, "variablesReference")
        if not 0 < ident <= len(self.handles):
            raise Refused("that variable is gone")
        what, of = self.handles[ident - 1]
        if what == "value":
            parts = children(of)
        else:
            frame = self.frame(of)
            parts = locals_of(frame) if what == "locals" else globals_of(frame)
        return {"variables": [self.variable(n, v) for n, v in parts]}, None

    def on_evaluate(self, a):
        text = str(a.get("expression", ""))
        if a.get("frameId") is not None:
            self.frame(number(a, "frameId"))
        if a.get("context") == "repl":
            return self.command(text)
        v = self.variable("", gdb.parse_and_eval(text))
        return {"result": v["value"], "type": v["type"], "variablesReference": v["variablesReference"]}, None

    def command(self, text):
        """A gdb command, such as `plait who-wrote total` or `plait goto 12`."""
        before = (is_alive(), self.stopped_by)
        self.stopped_by = None
        said = gdb.execute(text, to_string=True)
        moved = self.stopped_by is not None or is_alive() != before[0]
        if not moved:
            self.stopped_by = before[1]
            return {"result": said.rstrip("\n"), "variablesReference": 0}, None

        def then():
            self.forget()
            if text.split()[:1] == ["plait"]:
                self.stopped_by = None  # a breakpoint of ours
            self.tell_stop("goto")
        return {"result": said.rstrip("\n"), "variablesReference": 0}, then

    def replace_breakpoints(self, key, wanted, place):
        for b in self.breakpoints.pop(key, []):
            if b.is_valid():
                b.delete()
        answer = []
        for w in wanted:
            try:
                b = UserBreakpoint(self.wire, w, **place(w))
            except gdb.error as e:
                answer.append({"verified": False, "message": str(e)})
                continue
            self.breakpoints.setdefault(key, []).append(b)
            answer.append(b.described())
        return {"breakpoints": answer}, None

    def on_setBreakpoints(self, a):
        path = (a.get("source") or {}).get("path")
        if not path:
            raise Refused("which file?")
        return self.replace_breakpoints(path, a.get("breakpoints") or [],
                                        lambda w: {"source": path, "line": number(w, "line")})

    def on_setFunctionBreakpoints(self, a):
        return self.replace_breakpoints(None, a.get("breakpoints") or [],
                                        lambda w: {"function": str(w.get("name"))})

    def on_setExceptionBreakpoints(self, a):
        return {"breakpoints": []}, None

    def on_exceptionInfo(self, a):
        if not self.failure:
            raise Refused("the program does not stand at its failure")
        return {"exceptionId": self.failure[0], "description": self.failure[1], "breakMode": "always"}, None

    # -- the loop --

    def carry_out(self, message, moving=False):
        command, then = message.get("command"), None
        handler = getattr(self, "on_%s" % command, None) if str(command).isalpha() else None
        arguments = message.get("arguments") or {}
        try:
            if handler is None or not isinstance(arguments, dict):
                raise Refused("a replay knows no `%s'" % command)
            body, then = handler(arguments)
            if moving and then is not None:
                raise Refused("the program runs: pause it first")
        except (Refused, gdb.error, gdb.MemoryError, RuntimeError, KeyError, TypeError, ValueError) as e:
            self.wire.answer(message, refused=str(e) or "%s failed" % command)
            return
        self.wire.answer(message, body)
        if then is not None:
            try:
                then()
            except (gdb.error, RuntimeError) as e:
                self.wire.event("output", category="important", output="%s\n" % e)
                self.stopped_by = None
                self.tell_stop("pause")

    def serve(self):
        while True:
            self.carry_out(self.requests.get())


def pass_output_on(wire):
    """From now on, what the program prints comes to the client."""
    ours, theirs = os.pipe()
    os.dup2(theirs, 1)
    os.dup2(theirs, 2)
    os.close(theirs)

    def copy():
        while True:
            data = os.read(ours, 65536)
            wire.event("output", category="stdout", output=data.decode(errors="replace"))
    threading.Thread(target=copy, daemon=True).start()


def serve(source, sink, launch_file):
    """source, sink: descriptors. launch_file: the number of the last message that was sent, and the
    launch request."""
    with open(launch_file) as f:
        begun = json.load(f)
    for fd in (source, sink):
        os.set_inheritable(fd, False)
    wire = Wire(source, sink, begun["seq"])
    pass_output_on(wire)
    gdb.execute("set print thread-events off")
    gdb.execute("set may-call-functions off")
    gdb.execute("set confirm off")
    session = Session(wire, begun["request"].get("arguments") or {})
    wire.answer(begun["request"])
    wire.event("initialized")
    threading.Thread(target=session.read, daemon=True).start()
    session.serve()
