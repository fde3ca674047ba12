# A client for test 1480: it does what an editor does, and prints TAP.
import json, os, signal, subprocess, sys, time

unplait, work = sys.argv[1:]


def check(good, what, detail=""):
    print("%sok - %s%s" % ("" if good else "not ", what, "" if good else "\n# %s" % str(detail)[:3000].replace("\n", "\n# ")))


class Editor:
    def __init__(self):
        self.server = subprocess.Popen([unplait, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.seq = self.last = 0
        self.events = []
        self.printed = ""

    def send(self, command, **arguments):
        self.seq += 1
        body = json.dumps({"seq": self.seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()
        return self.seq

    def receive(self):
        header = self.server.stdout.readline()
        if not header:
            return None
        assert header.startswith(b"Content-Length: ") and self.server.stdout.readline() == b"\r\n", header
        m = json.loads(self.server.stdout.read(int(header.split()[1])))
        # what the protocol asks of every message
        assert m["seq"] > self.last and m["type"] in ("response", "event"), m
        self.last = m["seq"]
        if m["type"] == "event" and m["event"] == "output":
            assert m["body"]["category"] in ("stdout", "console", "important"), m
            self.printed += m["body"]["output"]
        elif m["type"] == "event":
            self.events.append(m)
        return m

    def answer_to(self, seq):
        while True:
            m = self.receive()
            assert m is not None, "the server is gone"
            if m["type"] == "response" and m["request_seq"] == seq:
                return m

    def ask(self, command, **arguments):
        m = self.answer_to(self.send(command, **arguments))
        assert m["success"], m
        return m.get("body") or {}

    def refused(self, command, **arguments):
        m = self.answer_to(self.send(command, **arguments))
        return not m["success"] and m["message"]

    def wait(self, *names):
        while True:
            for i, e in enumerate(self.events):
                if e["event"] in names:
                    return self.events.pop(i)
            assert self.receive() is not None, "the server is gone"

    def start(self, **launch):
        can = self.ask("initialize", adapterID="unplait", linesStartAt1=True)
        self.ask("launch", **launch)
        self.wait("initialized")
        return can

    def move(self, command, **arguments):
        thread = getattr(self, "thread", 1)
        self.ask(command, threadId=thread, **arguments)
        e = self.wait("stopped", "terminated")
        if e["event"] == "stopped":
            self.thread = e["body"]["threadId"]
        return e.get("body", {}), e["event"]

    def stack(self, thread=None):
        return self.ask("stackTrace", threadId=thread or self.thread)["stackFrames"]

    def where(self, thread=None):
        top = next(f for f in self.stack(thread) if f.get("source"))
        return "%s:%d" % (top["source"]["name"], top["line"]), top

    def variables(self, frame, scope):
        for s in self.ask("scopes", frameId=frame["id"])["scopes"]:
            if s["name"].startswith(scope):
                return {v["name"]: v for v in self.ask("variables", variablesReference=s["variablesReference"])["variables"]}

    def event(self):
        return int(self.ask("evaluate", expression="rt_steps", context="watch")["result"])

    def leave(self):
        self.ask("disconnect", terminateDebuggee=True)
        self.server.stdin.close()
        return self.server.wait(20)


# ---- a program of README's: to the failure, a variable, back, disconnect ----
events = []
for turn in range(2):
    e = Editor()
    can = e.start(plait=work + "/fail.plait")
    check(can.get("supportsStepBack") and can.get("supportsConfigurationDoneRequest"), "it can step back", can)
    e.ask("setBreakpoints", source={"path": work + "/main.c"}, breakpoints=[])
    body, _ = e.move("configurationDone")
    check(body["reason"] == "exception" and "SIGSEGV" in body["description"], "the replay stops at the failure", body)
    at, frame = e.where()
    check(at.startswith("queue.c:") and frame["name"] == "queue_get", "in the line that hunt told", (at, frame))
    info = e.ask("exceptionInfo", threadId=e.thread)
    check(info["exceptionId"] == "SIGSEGV", "what failed can be asked for", info)
    threads = e.ask("threads")["threads"]
    check("thread 0" in [t["name"] for t in threads] and any(t["name"].endswith("(consumer)") for t in threads), "threads have the names of reports", threads)
    args = e.variables(frame, "Locals")
    check(args and all("value" in v and "type" in v for v in args.values()), "there are variables", args)
    here = e.event()
    q = e.ask("evaluate", expression="q", frameId=frame["id"], context="hover")
    check(q["variablesReference"] > 0, "a pointer can be opened", q)
    body, _ = e.move("stepBack")
    back = e.event()
    check(body["reason"] == "step" and back < here, "step back goes back", (body, back, here))
    first = e.where()[0]
    body, _ = e.move("stepBack")
    check(e.event() < back, "and further back", (back, e.event()))
    said = e.ask("evaluate", expression="plait where", context="repl")["result"]
    check("event %d, thread" % e.event() in said, "gdb's own commands work", said)
    events.append((here, back, e.event(), at, first))
    e.ask("evaluate", expression="plait goto %d" % here, context="repl")
    body = e.wait("stopped")["body"]
    check(e.event() == here and body["reason"] == "goto", "plait goto moves, and the editor is told", body)
    body, _ = e.move("restart")
    check(body["reason"] == "exception", "restart comes to the failure again", body)
    check(e.leave() == 0, "disconnect ends the server")
check(events[0] == events[1], "every session sees the same", events)

# ---- a deadlock, breakpoints, steps, values ----
e = Editor()
e.start(plait=work + "/dead.plait", stopOnEntry=True)
with open(work + "/dead.c") as f:
    text = f.read().splitlines()
line = 1 + next(i for i, l in enumerate(text) if "mine++" in l)
answer = e.ask("setBreakpoints", source={"path": work + "/dead.c"}, breakpoints=[{"line": line}, {"line": 100000}])["breakpoints"]
check(answer[0]["verified"] and answer[0]["line"] == line and not answer[1]["verified"], "breakpoints are verified", answer)
answer = e.ask("setFunctionBreakpoints", breakpoints=[{"name": "two"}, {"name": "nobody"}])["breakpoints"]
check([b["verified"] for b in answer] == [True, False], "function breakpoints", answer)
body, _ = e.move("configurationDone")
check(body["reason"] == "entry" and e.where()[1]["name"] == "main", "stops at main when asked to", body)
seen = {}
body, _ = e.move("continue")
while body["reason"] == "breakpoint":
    at, frame = e.where()
    seen[frame["name"]] = e.event()
    if frame["name"] == "one":
        v = e.variables(frame, "Locals")
        check(v["mine"]["value"] == "41" and v["mine"]["type"] == "int", "a local variable has its value", v)
        body, _ = e.move("next")
        check(e.where()[0] == "dead.c:%d" % (line + 1), "next goes to the next line", e.where()[0])
        check(e.variables(e.where()[1], "Locals")["mine"]["value"] == "42", "and the variable has changed")
        g = e.variables(e.where()[1], "Globals")
        check("boxes" in g and g["boxes"]["variablesReference"], "globals of the file are there", g)
        parts = {v["name"]: v for v in e.ask("variables", variablesReference=g["boxes"]["variablesReference"])["variables"]}
        check(parts["n"]["value"] == "1" and '"first"' in parts["name"]["value"], "with their members", parts)
        half = e.ask("variables", variablesReference=parts["half"]["variablesReference"])["variables"]
        check([h["value"] for h in half] == ["0.5", "0.25"], "and the elements of arrays", half)
        check(bool(e.refused("evaluate", expression="no_such", context="watch")), "an unknown name is refused")
        check(bool(e.refused("evaluate", expression="main()", context="watch")), "no function is called: the replay stays a replay")
    body, _ = e.move("continue")
check(sorted(seen) == ["one", "two"], "both breakpoints are hit", seen)
check(body["reason"] == "exception" and "deadlock" in body["description"], "a deadlock stops as a failure", body)
check("waits to lock a mutex held by" in body["text"], "and says who waits for whom", body)
waiting = {}
for t in e.ask("threads")["threads"]:
    waiting[t["name"]] = e.where(t["id"])[1]["name"]
check(sorted(waiting.values()) == ["main", "one", "two"], "each thread stands in its own code", waiting)
body, _ = e.move("reverseContinue")
check(body["reason"] == "breakpoint" and e.event() == max(seen.values()), "reverse continue comes to the last breakpoint", (body, seen, e.event()))
path = []
while body["reason"] != "entry" and len(path) < 5:
    body, _ = e.move("reverseContinue")
    path.append((e.where()[1]["name"], body["reason"]))
check(path == [("two", "breakpoint"), ("main", "entry")], "then to the one before it, then to main", path)
body, _ = e.move("stepIn")
check(body["reason"] == "step" and e.where()[1]["name"] == "main", "step goes into no function of the runtime", (body, e.where()))
check("read hello" in e.printed, "what the program prints is shown", e.printed)
check(bool(e.refused("stackTrace", threadId=77)), "no such thread")
check(bool(e.refused("stackTrace", threadId="x")), "no number")
check(bool(e.refused("variables", variablesReference=99999)), "no such variable")
check(bool(e.refused("scopes", frameId=99999)), "no such frame")
check(bool(e.refused("makeCoffee")), "an unknown request is refused")
check(e.leave() == 0, "disconnect from the middle")

# ---- a log point and a condition ----
e = Editor()
e.start(plait=work + "/dead.plait")
e.ask("setBreakpoints", source={"path": work + "/dead.c"},
      breakpoints=[{"line": line, "logMessage": "mine is {mine}"}, {"line": line + 1, "condition": "mine == 7"}])
body, _ = e.move("configurationDone")
check(body["reason"] == "exception", "neither a log point nor a false condition stops", body)
check("mine is 41" in e.printed, "the log point prints", e.printed)
body, kind = e.move("continue")
check(kind == "terminated", "and after the failure comes the end", kind)
e.leave()

# ---- a program that runs: pause, questions meanwhile; then the client is killed ----
e = Editor()
e.start(plait=work + "/loop.plait", program=work + "/loop", args=["90000000000"])
e.ask("configurationDone")
time.sleep(1)
check(len(e.ask("threads")["threads"]) > 0, "questions are answered while the program runs")
check("pause" in (e.refused("next", threadId=1) or ""), "but it cannot be moved", e.events)
e.ask("pause", threadId=1)
body = e.wait("stopped")["body"]
check(body["reason"] == "pause" and e.where(body["threadId"])[1]["name"] == "turn", "pause stops it, in the thread that runs", body)

client = subprocess.Popen([sys.executable, "-c", """
import sys
sys.argv = ["client", %r, %r]
source = open(%r).read().split("# ---- a program of README's")[0]
exec(source)
e = Editor()
e.start(plait=work + "/dead.plait", stopOnEntry=True)
e.move("configurationDone")
print(e.server.pid, flush=True)
import time
time.sleep(100)
""" % (unplait, work, os.path.abspath(__file__))], stdout=subprocess.PIPE, text=True)
server = int(client.stdout.readline())
client.send_signal(signal.SIGKILL)
client.wait()
for i in range(100):
    if not os.path.exists("/proc/%d" % server):
        break
    time.sleep(0.1)
check(not os.path.exists("/proc/%d" % server), "a killed client takes the server with it")
e.leave()

# ---- bad input ----
e = Editor()
check(bool(e.refused("stackTrace", threadId=1)), "before the launch there is nothing to ask")
e.ask("initialize", adapterID="unplait")
check("which file" in e.refused("launch"), "a launch without a plait")
check("nothing.plait" in e.refused("launch", plait=work + "/nothing.plait"), "a plait that is not there")
check(bool(e.refused("launch", plait=work + "/dead.c")), "a file that is no plait")
check("attach" not in can, "no attach")
check(bool(e.refused("attach")), "nothing to attach to")
check(e.leave() == 0, "and the server lives")
