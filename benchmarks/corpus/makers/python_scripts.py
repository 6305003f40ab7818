"""Scripts of Python that go wrong, and logs that they write."""

from __future__ import annotations

import textwrap

from benchmarks.corpus.case import Place, case


def python(place: Place, script: str, name: str = "job.py", **options: str) -> None:
    """Run a script of Python."""
    place.write({name: textwrap.dedent(script)})
    place.run("python", "-X", "utf8", name, **options)


@case("python-chained-traceback", "script", "python")
def chained(place: Place) -> None:
    python(
        place,
        """
        import json, logging, sys
        logging.basicConfig(level="INFO", format="%(levelname)s %(name)s: %(message)s", stream=sys.stdout)
        log = logging.getLogger("importer")
        class ImportFailed(Exception): pass
        def parse(n):
            text = '{"id": %d, "price": 10}' % n
            if n == 311:
                text = '{"id": 311, "price": 1O}'
            return json.loads(text)
        def load(n):
            try:
                return parse(n)
            except ValueError as error:
                raise ImportFailed(f"record {n} was refused") from error
        for n in range(5000):
            try:
                load(n)
                log.info("record %d loaded, error handler idle", n)
            except ImportFailed:
                log.exception("giving up on this batch")
        log.info("summary written")
        """,
    )


@case("python-task-group", "script", "python")
def task_group(place: Place) -> None:
    python(
        place,
        """
        import asyncio
        async def fetch(n):
            await asyncio.sleep(n / 1000)
            print(f"mirror {n}: 200 OK, 0 failed")
            if n == 140:
                raise TimeoutError("mirror 140 sent 512 of 4096 bytes")
            if n == 150:
                raise ValueError("mirror 150: digest differs")
            return n
        async def main():
            async with asyncio.TaskGroup() as group:
                for n in range(141):
                    group.create_task(fetch(n))
                group.create_task(other())
        async def other():
            try:
                await asyncio.sleep(60)
            finally:
                raise KeyError("session-of-mirrors")
        try:
            asyncio.run(main())
        finally:
            for n in range(1500):
                print(f"closing connection {n}")
        """,
    )


@case("python-pool-of-processes", "script", "python")
def pool(place: Place) -> None:
    python(
        place,
        """
        import sys, traceback
        from concurrent.futures import ProcessPoolExecutor
        def work(n):
            if n == 77:
                return 100 / (n - 77)
            return n * n
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as pool:
                futures = [pool.submit(work, n) for n in range(1500)]
                for n, future in enumerate(futures):
                    try:
                        print(f"tile {n}: area {future.result()}", flush=True)
                    except Exception:
                        traceback.print_exc()
                        sys.stderr.flush()
            print("1499 tiles")
        """,
    )


@case("python-retries-and-one-gives-up", "script", "python")
def retries(place: Place) -> None:
    python(
        place,
        """
        import socket
        def attempt(n, k):
            if n == 93 or k < n % 3:
                raise ConnectionResetError(104, "Connection reset by peer")
        given_up = []
        for n in range(2200):
            for k in range(4):
                try:
                    attempt(n, k)
                except OSError as error:
                    print(f"WARN  chunk {n}: upload failed ({error}), attempt {k + 1} of 4, will retry")
                else:
                    print(f"INFO  chunk {n}: uploaded after {k} retries")
                    break
            else:
                given_up.append(n)
                print(f"WARN  chunk {n}: left out of the manifest")
        print(f"manifest: {2200 - len(given_up)} chunks")
        """,
    )


@case("python-loss-becomes-nan", "script", "python")
def nan(place: Place) -> None:
    python(
        place,
        """
        import math, random
        random.seed(3)
        w, rate = 0.5, 0.05
        for step in range(900):
            x = random.gauss(0, 1) * (math.inf if step == 531 else 1)
            y = 3 * x
            gradient = 2 * (w * x - y) * x
            w -= rate * gradient
            loss = (w * x - y) * (w * x - y)
            print(f"step {step:4} loss {loss:12.6f} w {w:10.6f} rate {rate}" if loss < 1e9 or math.isnan(loss) else f"step {step:4} loss {loss:12g} w {w:10g} rate {rate}")
        """,
    )


@case("python-warnings-then-recursion", "script", "python")
def recursion(place: Place) -> None:
    python(
        place,
        """
        import warnings
        warnings.simplefilter("always")
        for n in range(120):
            warnings.warn(f"option colour_{n} is deprecated and has no effect", DeprecationWarning)
        graph = {n: n + 1 for n in range(4000)}
        graph[3999] = 0
        def depth(n):
            return 1 + depth(graph[n])
        try:
            print(depth(0))
        finally:
            for n in range(400):
                print(f"node {n} written")
        """,
    )


@case("python-verbose-import", "script", "python")
def verbose_import(place: Place) -> None:
    place.write(
        {
            "app.py": "import json, csv, http.client, sqlite3\nimport telemetry_shim\n",
            "telemetry_shim.py": "from decimal import Decimall\n",
        }
    )
    place.run("python", "-v", "app.py")


@case("python-thread-dies-quietly", "script", "python")
def thread(place: Place) -> None:
    python(
        place,
        """
        import threading
        beats = {}
        def feed(name):
            for n in range(250):
                if name == "feed-c" and n == 90:
                    beats[n].append(name)
                print(f"{name} tick {n}", flush=True)
        for name in ("feed-a", "feed-b", "feed-c", "feed-d"):
            thread = threading.Thread(target=feed, args=(name,), name=name)
            thread.start()
            thread.join()
        """,
    )


@case("curl-gives-up", "script", "curl", "python")
def curl(place: Place) -> None:
    python(
        place,
        """
        import http.server, subprocess, threading, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            seen = {}
            def do_GET(self):
                count = self.seen[self.path] = self.seen.get(self.path, 0) + 1
                if self.path == '/part-31':
                    self.send_response(507, 'Insufficient Storage'); self.end_headers(); return
                if count < 2 and self.path.endswith('5'):
                    self.send_response(503); self.end_headers(); return
                body = b'part\\n' * 20
                self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
            def log_message(self, *a): pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for n in range(50):
            subprocess.run(['curl', '-sS', '-v', '--fail', '--retry', '1', '--retry-delay', '0', '--retry-max-time', '1', f'http://127.0.0.1:{server.server_port}/part-{n}'], stderr=subprocess.STDOUT)
            sys.stdout.flush()
        server.shutdown()
        """,
    )


@case("utf16-import-log", "log", "python")
def utf16(place: Place) -> None:
    python(
        place,
        """
        print(chr(0xFEFF), end="")
        for n in range(5000):
            if n == 402:
                print("Row 402: value 'N/A' of column Quantity cannot be converted to type Int32")
            else:
                print(f"Row {n}: accepted, 14 columns, 0 warnings")
        print("Import finished")
        """,
        PYTHONIOENCODING="utf-16-le",
    )


@case("utf16-german-setup", "log", "bash", "iconv", language="de")
def utf16_german(place: Place) -> None:
    place.write({f"in/datei-{n:03}.dat": f"{n}\n" for n in range(240) if n != 99})
    place.shell(
        "for n in $(seq -w 0 239); do cp -v in/datei-$n.dat /tmp/spill-corpus-$$ ; done > log 2>&1; rm -f /tmp/spill-corpus-$$; printf '\\xff\\xfe'; iconv -f UTF-8 -t UTF-16LE log",
        language="de",
    )
