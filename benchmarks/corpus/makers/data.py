"""Data and listings: what tools print about files, packages, programs and clusters."""

from __future__ import annotations

import json

from benchmarks.corpus.case import Place, case
from benchmarks.corpus.makers.builds import c_sources
from benchmarks.corpus.makers.python_scripts import python


def tree(place: Place) -> None:
    """Folders of files, with an empty one among them."""
    place.write(
        {
            f"site/{folder}/{n:03}.{kind}": "x" * (n % 40 + 20)
            for folder, kind in (("css", "css"), ("js", "js"), ("img", "svg"), ("posts", "md"))
            for n in range(500)
        }
    )


@case("find-with-odd-file", "listing", "find")
def find(place: Place) -> None:
    tree(place)
    place.write({"site/posts/core.28114": "x" * 300_000})
    place.shell("find site | sort | xargs ls -d1 --file-type && find site -type f -size +100k")


@case("find-printf-sizes", "listing", "find")
def find_printf(place: Place) -> None:
    tree(place)
    place.write({"site/img/.DS_Store.swp": "x"})
    place.shell("find site -type f -printf '%p %s\\n' | sort")


@case("ls-recursive", "listing", "ls")
def ls_recursive(place: Place) -> None:
    tree(place)
    place.write({"site/js/vendor.min.js": "x" * 2_400_017})
    place.run("ls", "-lR", "--time-style=+", "site")


@case("grep-recursive", "listing", "grep")
def grep(place: Place) -> None:
    place.write(c_sources(500))
    place.write({"src/legacy.c": "int legacy_part_000(int x); /* TODO: return x is wrong here */\n"})
    place.shell("grep -rn 'return' src | sort")


@case("grep-todo-in-many", "listing", "grep")
def grep_todo(place: Place) -> None:
    place.write(
        {
            f"lib/{part}/{n:02}.py": "".join(f"# TODO {part} {n} {k}: tidy\n" for k in range(4))
            for part in ("core", "net", "ui")
            for n in range(100)
        }
    )
    place.write({"lib/net/17.py": "# FIXME: certificate is not verified here\n"})
    place.shell("grep -rnE 'TODO|FIXME' lib | sort")


@case("tar-listing", "listing", "tar")
def tar(place: Place) -> None:
    tree(place)
    place.shell(
        "ln -s /etc/shadow site/css/theme.css; tar -cf all.tar --sort=name --mtime=2026-01-01 --owner=ada --group=ada site; tar -tvf all.tar"
    )


@case("nm-symbols", "listing", "nm", "gcc", "make")
def nm(place: Place) -> None:
    place.write(c_sources(560))
    place.write(
        {
            "src/part_144.c": "extern int entropy_of_pool(void);\nint part_144(int x) { return x ? entropy_of_pool() : 0; }\n"
        }
    )
    place.shell("gcc -Iinclude -r -o all.o src/part_*.c 2>&1; nm all.o")


@case("git-log-stat", "listing", "git")
def log_stat(place: Place) -> None:
    place.shell(
        "git init -q -b main .; git config gc.auto 0; for n in $(seq 1 150); do echo $n >> f$((n % 9)); git add .; if [ $n = 70 ]; then git commit -qm 'Reverts the lock: it did not work'; else git commit -qm \"Writes part $n\"; fi; done",
        keep=False,
    )
    place.run("git", "log", "--stat")


@case("git-diff-of-many", "data", "git")
def diff(place: Place) -> None:
    place.write(c_sources(300))
    place.shell(
        "git init -q -b main .; git add .; git commit -qm base; sed -i 's/return x/return y/' src/*.c; sed -i 's/sum == 0/sum != 0/' src/main.c; git rm -q --cached Makefile; git add -A; rm src/part_044.c; git add -A",
        keep=False,
    )
    place.run("git", "diff", "--cached")


@case("npm-ls-json", "data", "npm")
def npm_ls(place: Place) -> None:
    place.write(
        {
            f"node_modules/lib{n}/package.json": f'{{"name": "lib{n}", "version": "1.{n}.0", "description": "part {n}"}}'
            for n in range(120)
            if n != 57
        }
    )
    place.write(
        {
            "package.json": json.dumps(
                {"name": "app", "version": "1.0.0", "dependencies": {f"lib{n}": "^1.0.0" for n in range(120)}}
            )
        }
    )
    place.run("npm", "ls", "--json", "--long")


@case("eslint-json", "data", "eslint")
def eslint_json(place: Place) -> None:
    place.write({f"src/m{n:03}.js": f"export const a{n} = {n};\n" for n in range(60)})
    place.write(
        {
            "eslint.config.mjs": "export default [{ rules: { 'no-undef': 'error' } }];\n",
            "src/m037.js": "export const a37 = horizon + 1;\n",
        }
    )
    place.shell("eslint --no-color -f json src | python -m json.tool")


@case("ruff-json-lines", "data", "ruff")
def ruff_json(place: Place) -> None:
    place.write({f"pkg/m{n:02}.py": "import os\nimport sys\n" for n in range(50)})
    place.write({"pkg/m28.py": "def area(r):\n    return PI * r\n"})
    place.run("ruff", "check", "--no-cache", "--output-format", "json-lines", "pkg")


@case("pip-inspect", "data", "pip")
def pip_inspect(place: Place) -> None:
    place.run("pip", "inspect", "--local")


@case("junit-xml", "data", "pytest")
def junit(place: Place) -> None:
    place.write(
        {
            f"test_{n:02}.py": "".join(f"def test_{n}_{k}():\n    assert True\n\n" for k in range(12))
            for n in range(20)
        }
    )
    place.write(
        {"test_09b.py": "def test_tariff():\n    assert 'winter' == 'summer', 'tariff of the wrong season'\n"}
    )
    place.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml=r.xml", keep=False)
    place.shell("sed 's/></>\\n</g' r.xml")


@case("json-lines-of-pino", "log", "node")
def pino(place: Place) -> None:
    place.write(
        {
            "serve.js": "const log = require('pino')({ base: null, timestamp: false });\nfor (let n = 0; n < 9000; n += 1) {\n  if (n === 611) log.error({ route: '/pay/611', code: 'ECARD' }, 'card issuer did not answer in 30 s');\n  else log.info({ route: '/items/' + n, ms: n % 40, errors: 0 }, 'request served');\n}\n"
        }
    )
    place.run("node", "serve.js")


@case("json-lines-one-level", "log", "python")
def json_log(place: Place) -> None:
    python(
        place,
        """
        import json
        for n in range(12000):
            entry = {"ts": f"2026-03-14T09:{n // 60 % 60:02}:{n % 60:02}Z", "level": "info", "svc": "ledger", "msg": "entry posted", "id": n, "failed": False}
            if n == 733:
                entry |= {"level": "warn", "msg": "entry 733 posted twice, balance of account 18 is off by 250"}
            print(json.dumps(entry))
        """,
    )


@case("json-array-of-jobs", "data", "python")
def json_array(place: Place) -> None:
    python(
        place,
        """
        import json
        jobs = [{"id": f"job-{n:04}", "state": "succeeded", "attempts": 1, "error": None, "artifacts": [f"out/{n}.bin"]} for n in range(500)]
        jobs[341] |= {"state": "failed", "attempts": 5, "error": "volume vol-77 is not attached"}
        print(json.dumps({"total": 500, "next": None, "jobs": jobs}, indent=1))
        """,
    )


@case("html-of-sphinx", "data", "sphinx-build")
def html(place: Place) -> None:
    place.write(
        {
            "src/conf.py": "project = 'Almanac'\n",
            "src/index.rst": "Tide tables of the northern harbours\n====================================\n\n"
            + "".join(
                f"Harbour {n}\n--------------\n\n.. list-table::\n\n"
                + "".join(f"   * - {k}\n     - high water\n" for k in range(12))
                + "\n"
                for n in range(30)
            )
            + "Corrections\n-----------\n\nThe table of harbour 12 is withdrawn.\n",
        }
    )
    place.run("sphinx-build", "-q", "-b", "html", "src", "out", keep=False)
    place.run("cat", "out/index.html")


@case("base64-of-program", "data", "base64", "gcc")
def base64(place: Place) -> None:
    place.write({"p.c": "int main(void) { return 0; }\n"})
    place.shell("gcc -g -o p p.c; base64 p | head -c 40000", keep=False)
    place.shell("gcc -g -O0 -o p p.c; file p >/dev/null 2>&1; base64 p")


@case("objdump-one-function", "data", "objdump", "gcc")
def objdump(place: Place) -> None:
    place.write(
        {
            "p.c": "".join(f"int step_{n}(int x) {{ return x * {n} + 1; }}\n" for n in range(200))
            + "int halt_and_trap(int x) { if (x) __builtin_trap(); return 0; }\n"
        }
    )
    place.shell("gcc -O1 -c p.c && objdump -d p.o")


@case("xxd-of-archive", "data", "od")
def hexdump(place: Place) -> None:
    place.write(
        {
            "a.bin": bytes(range(256)) * 60
            + b"PASSPHRASE MISMATCH AT BLOCK 77"
            + bytes(range(255, -1, -1)) * 60
        }
    )
    place.shell("od -A x -t x1z -v a.bin")


@case("csv-of-readings", "data", "python")
def csv(place: Place) -> None:
    python(
        place,
        """
        import csv, math, sys
        out = csv.writer(sys.stdout)
        out.writerow(["station", "minute", "wind_ms", "gust_ms", "battery"])
        for n in range(15000):
            wind = round(6 + 3 * math.sin(n / 50), 2)
            out.writerow(["K13", n, "nan" if n == 902 else wind, wind + 2, round(12.6 - n / 5000, 2)])
        """,
    )


@case("kubectl-pods-table", "listing", "kubectl", "python")
def kubectl(place: Place) -> None:
    python(place, _CLUSTER)


_CLUSTER = """
import http.server, json, os, subprocess, sys, threading
columns = ['Name', 'Ready', 'Status', 'Restarts', 'Age']
def row(n):
    cells = [f'render-{n:03}-7f9c', '1/1', 'Running', 0, '3d']
    if n == 133:
        cells = [f'render-{n:03}-7f9c', '0/1', 'CrashLoopBackOff', 47, '3d']
    return {'cells': cells, 'object': {'kind': 'PartialObjectMetadata', 'apiVersion': 'meta.k8s.io/v1', 'metadata': {'name': cells[0], 'namespace': 'default'}}}
ANSWERS = {
    '/api': {'kind': 'APIVersions', 'versions': ['v1']},
    '/apis': {'kind': 'APIGroupList', 'apiVersion': 'v1', 'groups': []},
    '/api/v1': {'kind': 'APIResourceList', 'groupVersion': 'v1', 'resources': [{'name': 'pods', 'singularName': 'pod', 'namespaced': True, 'kind': 'Pod', 'verbs': ['get', 'list'], 'shortNames': ['po']}]},
    '/api/v1/namespaces/default/pods': {'kind': 'Table', 'apiVersion': 'meta.k8s.io/v1', 'metadata': {}, 'columnDefinitions': [{'name': c, 'type': 'string', 'format': '', 'description': '', 'priority': 0} for c in columns], 'rows': [row(n) for n in range(900)]},
}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(ANSWERS.get(self.path.partition('?')[0], {'kind': 'Status', 'status': 'Failure', 'code': 404})).encode()
        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
subprocess.run(['kubectl', '--server', f'http://127.0.0.1:{server.server_port}', '--kubeconfig', '/dev/null', 'get', 'pods'], stderr=subprocess.STDOUT)
server.shutdown()
"""
