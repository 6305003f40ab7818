"""A server that says exactly what it is told to, for a proxy to stand in front of; it needs the standard library alone.

``tools/call`` of ``say`` prints the argument ``line`` as it is, with ``%ID%`` replaced by the id of the request. What it
hears itself is on record, and printed by ``heard``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

heard: list[str] = []


def say(line: str) -> None:
    sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


def answer(identity: object, **result: object) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}))


def words(identity: object, text: str) -> None:
    answer(identity, content=[{"type": "text", "text": text}])


def call(identity: object, name: str, arguments: dict) -> None:
    if name == "say":
        for line in arguments["lines"]:
            say(line.replace("%ID%", json.dumps(identity)))
    elif name == "heard":
        words(identity, json.dumps(heard))
    elif name == "large":
        words(identity, "some words of a line\n" * (arguments["bytes"] // 21))
    elif name == "die":
        sys.stderr.write("oh no\n")
        sys.stderr.flush()
        os._exit(arguments.get("code", 3))
    elif name == "signal":
        os.kill(os.getpid(), arguments["number"])
    elif name == "leave":
        sys.exit(0)
    elif name == "deaf":
        os.close(0)
        words(identity, "deaf now")
        time.sleep(60)
    elif name == "child":
        child = subprocess.Popen(["sleep", "600"], start_new_session=arguments.get("daemon", False))
        words(identity, str(child.pid))
    elif name == "stubborn":
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        words(identity, str(os.getpid()))
    elif name == "environment":
        words(identity, json.dumps(dict(os.environ)))
    elif name == "silent":
        return
    else:
        say(
            json.dumps({"jsonrpc": "2.0", "id": identity, "error": {"code": -32602, "message": f"no {name}"}})
        )


def main() -> None:
    for line in sys.stdin:
        heard.append(line)
        try:
            message = json.loads(line)
        except ValueError:
            say(json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}}))
            continue
        if isinstance(message, list):
            for each in message:
                words(each["id"], "of a batch")
            continue
        identity, method = message.get("id"), message.get("method")
        if identity is None or method is None:
            continue
        if method == "initialize":
            answer(
                identity,
                protocolVersion=message["params"]["protocolVersion"],
                capabilities={"tools": {}},
                serverInfo={"name": "raw", "version": "1"},
            )
        elif method == "tools/list":
            answer(identity, tools=[{"name": "say", "inputSchema": {"type": "object"}}])
        elif method == "tools/call":
            call(identity, message["params"]["name"], message["params"].get("arguments") or {})
        elif method == "tasks/get":
            content = [{"type": "text", "text": "words of a task\n" * 3000}]
            answer(
                identity, taskId=message["params"]["taskId"], status="completed", result={"content": content}
            )
        elif method == "tasks/result":
            words(identity, "words of a task\n" * 3000)
        else:
            answer(identity, method=method)
    if "linger" in sys.argv:
        time.sleep(600)


if __name__ == "__main__":
    main()
