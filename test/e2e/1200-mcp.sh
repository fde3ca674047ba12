#!/usr/bin/env bash
# An agent goes from a flaky program to its cause: a scripted client talks to `unplait mcp`.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top/test/programs/bank.c" .
run 0 unplait cc -g -O1 -pthread -o bank bank.c
echo 'int forever(void); int main(void) { for (;;) forever(); }' >slow.c
echo 'int forever(void) { return 1; }' >forever.c
run 0 unplait cc -g -o slow slow.c forever.c
ln -s /etc/passwd outside.c

cat >client.py <<'END'
import json, subprocess, sys, time

server = subprocess.Popen([sys.argv[1], "mcp", "--timeout", "60"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
number = 0

def check(good, what, detail=""):
    print("%sok - %s%s" % ("" if good else "not ", what, "" if good else "\n# %s" % str(detail)[:2000].replace("\n", "\n# ")))

def send(message):
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()

def receive():
    answer = json.loads(server.stdout.readline())
    # what the protocol's schema asks of every response
    assert answer["jsonrpc"] == "2.0" and "id" in answer and ("result" in answer) != ("error" in answer), answer
    return answer

def ask(method, **params):
    global number
    number += 1
    send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    answer = receive()
    check(answer["id"] == number, "%s: the answer has the request's number" % method, answer)
    return answer

def call(name, **arguments):
    result = ask("tools/call", name=name, arguments=arguments)["result"]
    assert isinstance(result["isError"], bool) and result["content"][0]["type"] == "text", result
    return result["isError"], result["content"][0]["text"]

hello = ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={"name": "test", "version": "1"})["result"]
check(hello["protocolVersion"] == "2025-03-26", "the client's version of the protocol is taken", hello)
check("tools" in hello["capabilities"] and hello["serverInfo"]["name"] == "unplait", "it has tools", hello)
send({"jsonrpc": "2.0", "method": "notifications/initialized"})
check(ask("ping")["result"] == {}, "ping")

tools = ask("tools/list")["result"]["tools"]
for t in tools:
    s = t["inputSchema"]
    check(t["description"] and s["type"] == "object" and all(r in s["properties"] for r in s["required"]) and
          all(p["type"] in ("string", "number", "array") and p["description"] for p in s["properties"].values()),
          "%s has a description and a schema" % t["name"], t)
check({"test", "hunt", "replay", "look", "explain", "info", "source"} <= {t["name"] for t in tools}, "the tools are there", tools)

bad, text = call("hunt", command=["./bank"], output="fail.plait", seconds=20)
check(not bad and "Assertion" in text and "next: Call explain" in text and "(status 1)" in text, "hunt finds it", text)
bad, text = call("replay", plait="fail.plait", times=3)
check(not bad and "replayed 3 of 3" in text, "replay repeats it", text)
bad, text = call("explain", plait="fail.plait")
check(not bad and "cause" in text and "balance" in text and "bank.c" in text, "explain names the cause", text)
bad, text = call("info", file="fail.plait")
check(not bad and "./bank" in text, "info", text)
bad, text = call("test", target="./bank", seconds=5)
check(not bad and "FAILS" in text, "test hunts and explains", text)
if len(sys.argv) > 3: # the flaky GoogleTest of README
    bad, text = call("test", target="./cache_test", seconds=20)
    check(not bad and "FAILS  Cache.OneObjectPerKey" in text and "cause   thread" in text, "a flaky test has a cause", text)
    plait = text.split("unplait replay ")[1].split()[0]
    bad, text = call("explain", plait=plait)
    check(not bad and "0 of 1000 with it enforced" in text, "which explain confirms", text)
bad, text = call("source", file="bank.c", line=9, around=2)
check(not bad and ">    9  \tint b = balance;" in text and text.count("\n") == 5, "source shows lines", text)
if sys.argv[2]:
    bad, text = call("look", plait="fail.plait", gdb=["plait who-wrote balance", "print balance"])
    check(not bad and "in take at bank.c:11" in text and "= 9" in text, "look shows who changed a variable", text)

for name, arguments, says in (
    ("source", {"file": "outside.c", "line": 1}, "lies outside"),
    ("source", {"file": "../../../../../../../../etc/passwd", "line": 1}, "lies outside"),
    ("source", {"file": "none.c", "line": 1}, "no file"),
    ("source", {"file": "bank.c", "line": 1000}, "fewer than 1000"),
    ("hunt", {"command": "./bank", "output": "x"}, "list of strings"),
    ("hunt", {"output": "x"}, "command is missing"),
    ("hunt", {"command": ["./bank"], "output": "x", "weather": 1}, "no argument weather"),
    ("hunt", {"command": ["./none"], "output": "x"}, "none"),
    ("replay", {"plait": "--help"}, "--help"),
):
    bad, text = call(name, **arguments)
    check(bad and says in text, "%s %s: %s" % (name, arguments, says), text)
check(ask("tools/call", name="dance", arguments={})["error"]["code"] == -32602, "no such tool")
check(ask("resources/list")["error"]["code"] == -32601, "no such method")
server.stdin.write("this is not JSON\n")
server.stdin.flush()
check(receive()["error"]["code"] == -32700, "not JSON is said")
server.stdin.write('{"jsonrpc": "2.0", "id": 900}\n[]\n')
server.stdin.flush()
check(receive()["error"]["code"] == -32600 and receive()["error"]["code"] == -32600, "not a request is said")

# a call that would take long is cancelled; the next one is answered
send({"jsonrpc": "2.0", "id": 1000, "method": "tools/call",
      "params": {"name": "hunt", "arguments": {"command": ["./slow"], "output": "s.plait", "seconds": 60}}})
time.sleep(0.5)
send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1000}})
check(ask("ping")["result"] == {}, "a cancelled call does not keep the server busy")
server.stdin.close()
check(server.wait(timeout=20) == 0, "it ends when its input ends")
END
flaky=
[ ! -e /usr/include/gtest/gtest.h ] ||
	unplait c++ -std=c++17 -O1 -g -pthread -o cache_test "$top/test/programs/cache_test.cc" -lgtest -lgtest_main 2>/dev/null && flaky=yes
python3 client.py "$UNPLAIT" "$(command -v gdb)" $flaky >said 2>trouble
is $? 0 "the client came to its end"
cat said
[ ! -s trouble ] || sed 's/^/# /' trouble
failures=$((failures + $(grep -c '^not ok' said)))
pgrep -f "$work/slow" >left && not_ok "nothing is left running" "$(cat left)" || ok "nothing is left running"
run 2 unplait mcp word
run 3 unplait mcp --root ./nowhere
finish
