"""Starts ``upstream_sdk.py`` in a fraction of its time: one process imports the SDK and is forked for each server.

``upstream_fork.py SOCKET serve`` is that process; it ends with its standard input. ``upstream_fork.py SOCKET [ARGUMENT ...]`` is
a server: what it reads and writes goes to and comes from the forked process, whose exit code it ends with.
"""

from __future__ import annotations

import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 65536  # bytes of the arguments


def serve(path: str) -> None:
    """Fork a server for each connection until standard input ends."""
    import runpy  # of the process that forks alone
    import select
    import signal

    runpy.run_path(os.path.join(HERE, "upstream_sdk.py"), run_name="imported")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the servers
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                become_server(connection)
            connection.close()


def become_server(connection: socket.socket) -> None:
    """Run the server on the files that came over the connection, and send back the exit code."""
    import runpy
    import signal

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        sent, files, _, _ = socket.recv_fds(connection, MOST, 3)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        sys.argv[1:] = filter(None, sent.decode().split("\0"))
        runpy.run_path(os.path.join(HERE, "upstream_sdk.py"), run_name="__main__")
        code = 0
    finally:
        connection.sendall(bytes([code]))
        os._exit(code)


def main(path: str, *arguments: str) -> None:
    """Be the server that the forking process makes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, ["\0".join(["", *arguments, ""]).encode()], [0, 1, 2])
        for file in (0, 1):
            os.close(file)  # the forked process alone holds them: an end of either is seen at once
        sys.exit((connection.recv(1) or b"\1")[0])


if __name__ == "__main__":
    if sys.argv[2:] == ["serve"]:
        serve(sys.argv[1])
    else:
        main(*sys.argv[1:])
