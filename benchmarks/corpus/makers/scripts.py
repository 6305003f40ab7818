"""Scripts that go wrong: shells, Node, Java, Perl, and what runs them."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case


@case("bash-trace-of-copies", "script", "bash")
def bash_trace(place: Place) -> None:
    place.write({f"in/page-{n:03}.txt": f"page {n}\n" for n in range(260) if n != 143})
    place.write(
        {
            "publish.sh": 'mkdir -p out\nfor n in $(seq -w 0 259); do\n  size=$(stat -c %s in/page-$n.txt)\n  [ -n "$size" ] && cp in/page-$n.txt out/$n.txt\ndone\nls out | wc -l\n'
        }
    )
    place.run("bash", "-x", "publish.sh")


@case("bash-silent-last-command", "script", "bash", alone=True)
def bash_silent(place: Place) -> None:
    place.write(
        {
            "check.sh": "set -ex\nfor n in $(seq 1 400); do\n  printf '%s\\n' \"shard $n verified\"\ndone\nprintf 'shards: 399\\n' > summary.txt\ngrep -q 'shards: 400' summary.txt\necho done\n"
        }
    )
    place.run("bash", "check.sh")


@case("bash-unbound-then-cleanup", "script", "bash")
def bash_unbound(place: Place) -> None:
    place.write(
        {
            "deploy.sh": 'set -eu\nmkdir -p work\ntrap \'rm -rv work\' EXIT\nfor n in $(seq 1 350); do echo "unpacking layer $n"; touch work/layer-$n; done\necho "pushing to $REGISTRY_HOST"\necho pushed\n'
        }
    )
    place.run("bash", "deploy.sh")


@case("bash-pipeline-command-not-found", "script", "bash")
def bash_not_found(place: Place) -> None:
    place.write(
        {
            "report.sh": 'for n in $(seq 1 300); do\n  echo "region $n: collecting"\n  if [ $n = 120 ]; then seq $n | jsonl2parquet --out region-$n.pq; fi\n  echo "region $n: errors 0, skipped 0"\ndone\necho report complete\n'
        }
    )
    place.run("bash", "report.sh")


@case("bash-disk-image-too-long-name", "script", "bash")
def bash_long_name(place: Place) -> None:
    place.write(
        {
            "pack.sh": "mkdir -p a b\nfor n in $(seq 1 300); do touch a/$n; cp -v a/$n b/file-$n; done\nln -v a/1 b/$(printf 'x%.0s' $(seq 1 300))\nfor n in $(seq 1 300); do mv -v b/file-$n b/done-$n; done\n"
        }
    )
    place.run("bash", "pack.sh")


@case("node-rejection-with-cause", "script", "node")
def node_cause(place: Place) -> None:
    place.write(
        {
            "sync.js": "const fs = require('fs/promises');\nasync function one(n) {\n  try {\n    return await fs.readFile(n === 180 ? 'inbox/180.msg' : 'sync.js');\n  } catch (error) {\n    throw new Error('mailbox 180 is unreadable', { cause: error });\n  }\n}\n"
            "process.on('exit', () => { for (let n = 0; n < 450; n += 1) console.log('flushed mailbox', n); });\n(async () => { for (let n = 0; n < 300; n += 1) { await one(n); console.log('mailbox', n, 'synced'); } })();\n"
        }
    )
    place.run("node", "sync.js")


@case("node-aggregate-error", "script", "node")
def node_aggregate(place: Place) -> None:
    place.write(
        {
            "probe.js": "const net = require('net');\nconst probe = (port) => new Promise((ok, no) => net.connect(port, '127.0.0.1').on('error', no).on('connect', ok));\n"
            "(async () => {\n  for (let n = 0; n < 260; n += 1) console.log(`probe ${n}: node healthy, lastError=null`);\n  try {\n    await Promise.any([probe(9), probe(10), probe(11)]);\n  } catch (error) {\n    console.error(error);\n  }\n"
            "  for (let n = 0; n < 260; n += 1) console.log(`drain ${n}: ok`);\n})();\n"
        }
    )
    place.run("node", "probe.js")


@case("java-caused-by", "script", "java")
def java(place: Place) -> None:
    place.write(
        {
            "Ledger.java": """
import java.util.*;
public class Ledger {
  static int amount(String text) { return Integer.parseInt(text.trim()); }
  static void book(int n) {
    try { amount(n == 204 ? "12.50" : " " + n); }
    catch (NumberFormatException e) { throw new IllegalStateException("cannot book line " + n, e); }
  }
  public static void main(String[] a) {
    for (int n = 0; n < 4000; n++) {
      try { book(n); System.out.println("INFO  line " + n + " booked, errors=0"); }
      catch (RuntimeException e) { e.printStackTrace(System.out); }
    }
  }
}
"""
        }
    )
    place.run("java", "Ledger.java")


@case("perl-dies-in-flood", "script", "perl")
def perl(place: Place) -> None:
    place.write(
        {
            "merge.pl": 'use strict; use warnings;\n$| = 1;\nEND { print "released lock $_\\n" for 1..300 }\nmy %seen = map { $_ => 1 } grep { $_ != 222 } 1..400;\nfor my $n (1..400) {\n  my $row = $seen{$n} ? "row $n" : undef;\n  print "merged " . $row . "\\n";\n  die "row $n is not in the index" unless $seen{$n + 1} or $n < 300;\n}\n'
        }
    )
    place.run("perl", "merge.pl")


@case("awk-syntax-late", "script", "make", "awk")
def awk(place: Place) -> None:
    place.write({f"data/{n:03}.tsv": "".join(f"{n}\t{k}\t{k * n}\n" for k in range(40)) for n in range(200)})
    place.write(
        {
            "Makefile": "all: $(patsubst data/%.tsv,out/%.sum,$(sort $(wildcard data/*.tsv)))\nout/%.sum: data/%.tsv\n\t@mkdir -p out\n\tawk -F'\\t' '{ s += $$3 } END { if (s % 1000 == 580) exit 2; print s }' $< > $@\n"
        }
    )
    place.run("make", "-k")


@case("invoke-tasks", "script", "invoke")
def invoke(place: Place) -> None:
    place.write(
        {
            "tasks.py": "from invoke import task\n\n@task\ndef seed(c):\n    for n in range(150):\n        c.run(f'echo seeding table {n} from the snapshot of last night', echo=True)\n\n@task(seed)\ndef migrate(c):\n    c.run('test -f schema/0042.sql', echo=True, warn=True)\n    for n in range(60):\n        c.run(f'echo vacuum {n}')\n    c.run('python -c \"import sys; sys.exit(len(open(\\'schema/0042.sql\\').read()))\"', echo=True)\n"
        }
    )
    place.run("invoke", "migrate")


@case("ansible-one-host-fails", "script", "ansible-playbook")
def ansible(place: Place) -> None:
    hosts = "".join(
        f"web{n:02} ansible_connection=local ansible_python_interpreter=auto_silent\n" for n in range(12)
    )
    place.write(
        {
            "hosts": hosts,
            "site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n"
            + "".join(
                f"    - name: Set limit {n}\n      ansible.builtin.debug:\n        msg: limit {n} of {{{{ inventory_hostname }}}} is set, no errors\n"
                for n in range(14)
            )
            + "    - name: Certificate is still valid for a week\n      ansible.builtin.assert:\n        that: (7 if inventory_hostname != 'web07' else 2) >= 7\n        fail_msg: certificate ends in 2 days\n"
            + "".join(
                f"    - name: Restart {n}\n      ansible.builtin.debug:\n        msg: unit {n} restarted\n"
                for n in range(6)
            ),
        }
    )
    place.run(
        "ansible-playbook",
        "-i",
        "hosts",
        "site.yml",
        ANSIBLE_LOCALHOST_WARNING="False",
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_HOME=str(place.folder),
    )


@case("alembic-revision-fails", "script", "alembic")
def alembic(place: Place) -> None:
    place.run("alembic", "init", "db", keep=False)
    ini = (place.folder / "alembic.ini").read_text()
    place.write(
        {
            "alembic.ini": "\n".join(
                "sqlalchemy.url = sqlite:///shop.db" if line.startswith("sqlalchemy.url") else line
                for line in ini.splitlines()
            ).replace(
                "level = WARNING\nhandlers =\nqualname = sqlalchemy.engine",
                "level = INFO\nhandlers =\nqualname = sqlalchemy.engine",
            )
        }
    )
    for n in range(60):
        body = (
            f"op.create_table('t{n}', sa.Column('id', sa.Integer, primary_key=True))"
            if n != 37
            else "op.add_column('customers', sa.Column('vat', sa.Text))"
        )
        place.write(
            {
                f"db/versions/r{n:03}.py": f"import sqlalchemy as sa\nfrom alembic import op\nrevision = 'r{n:03}'\ndown_revision = {f'r{n - 1:03}' if n else None!r}\n\ndef upgrade():\n    {body}\n"
            }
        )
    place.run("alembic", "upgrade", "head")


@case("honcho-service-exits", "log", "honcho")
def honcho(place: Place) -> None:
    loop = "import time,sys\nfor n in range(600):\n    print('{0} handled request', n, flush=True)\n    time.sleep(0.004)\n"
    place.write({name: loop.format(name[:-3]) for name in ("web.py", "api.py")})
    place.write(
        {
            "worker.py": "import time\nfor n in range(450):\n    print('worker job', n, 'done', flush=True)\n    time.sleep(0.004)\nraise SystemExit('worker: lease of queue invoices-eu lost')\n",
            "Procfile": "web: python web.py\napi: python api.py\nworker: python worker.py\n",
        }
    )
    place.run("honcho", "start", "--no-colour")


@case("concurrently-one-crashes", "log", "concurrently", "node")
def concurrently(place: Place) -> None:
    for name in ("front", "back", "mail"):
        place.write(
            {
                f"{name}.js": f"let n = 0;\nconst t = setInterval(() => {{ console.log('{name} GET /items/' + n, 200);"
                + (" if (n === 90) JSON.parse('<html>'); " if name == "back" else "")
                + " if ((n += 1) > 220) clearInterval(t); }, 3);\n"
            }
        )
    place.run(
        "concurrently", "--no-color", "-n", "front,back,mail", "node front.js", "node back.js", "node mail.js"
    )


@case("make-deploy-openssl", "script", "make", "openssl")
def openssl(place: Place) -> None:
    place.shell(
        "for n in $(seq 1 25); do openssl req -x509 -newkey rsa:1024 -nodes -keyout k$n.pem -out c$n.pem -subj /CN=host$n.example.org -days 3650 2>/dev/null; done",
        keep=False,
    )
    place.write(
        {"c13.pem": "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUFJ\n-----END CERTIFICATE-----\n"}
    )
    place.write(
        {
            "Makefile": "all: $(patsubst c%.pem,%.txt,$(sort $(wildcard c*.pem)))\n%.txt: c%.pem\n\topenssl x509 -in $< -noout -text -certopt no_sigdump\n"
        }
    )
    place.run("make", "-k")
