"""What sanitizers, valgrind, debuggers and tracers print."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case

_FLOOD = '  for (int n = 0; n < 2000; n++) fprintf(stderr, "frame %d decoded, errors=0\\n", n);\n'


def _program(place: Place, source: str, *flags: str, **variables: str) -> None:
    place.write({"prog.c": "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + source})
    place.run("gcc", "-g", "-O0", *flags, "-o", "prog", "prog.c", keep=False)
    place.run("./prog", **variables)


@case("asan-overflow", "script", "gcc")
def asan(place: Place) -> None:
    _program(
        place,
        f'static int width(char *row) {{ return row[64]; }}\nint main(void) {{\n{_FLOOD}  char *row = malloc(64);\n  memset(row, 1, 64);\n  int w = width(row);\n  for (int n = 0; n < 400; n++) printf("line %d of width %d\\n", n, w);\n  free(row);\n  return 0;\n}}\n',
        "-fsanitize=address",
        "-fsanitize-recover=address",
        ASAN_OPTIONS="halt_on_error=0:detect_leaks=0",
    )


@case("leaks-at-the-end", "script", "gcc")
def leaks(place: Place) -> None:
    _program(
        place,
        f"static char *tile(int n) {{ return malloc(100 + n); }}\nint main(void) {{\n{_FLOOD}  for (int n = 0; n < 40; n++) {{ char *t = tile(n); t[0] = 1; if (n != 7) free(t); }}\n  return 0;\n}}\n",
        "-fsanitize=address",
    )


@case("tsan-race", "script", "gcc")
def tsan(place: Place) -> None:
    _program(
        place,
        '#include <pthread.h>\nstatic long balance;\nstatic void *pay(void *a) {\n  for (int n = 0; n < 200; n++) {\n    balance += 1;\n    printf("teller %ld paid %d\\n", (long)a, n);\n  }\n  return 0;\n}\n'
        'int main(void) {\n  setvbuf(stdout, 0, _IOLBF, 0);\n  pthread_t t[2];\n  for (long k = 0; k < 2; k++) pthread_create(&t[k], 0, pay, (void *)k);\n  for (int k = 0; k < 2; k++) pthread_join(t[k], 0);\n  for (int n = 0; n < 300; n++) printf("audit %d agrees\\n", n);\n  return 0;\n}\n',
        "-fsanitize=thread",
    )


@case("ubsan-shift", "script", "gcc")
def ubsan(place: Place) -> None:
    _program(
        place,
        'static int bit(int n) { return 1 << n; }\nint main(void) {\n  setvbuf(stdout, 0, _IOLBF, 0);\n  for (int n = 0; n < 20000; n++) printf("mask %d is %d\\n", n, bit(n == 417 ? 40 : n % 31));\n  return 0;\n}\n',
        "-fsanitize=undefined",
    )


@case("valgrind-uninitialised", "script", "valgrind", "gcc")
def valgrind(place: Place) -> None:
    place.write(
        {
            "prog.c": f"#include <stdio.h>\n#include <stdlib.h>\nstatic int vote(int *seat) {{ if (seat[3] > 7) return 1; return 0; }}\nint main(void) {{\n{_FLOOD}  int *seat = malloc(16);\n  seat[0] = vote(seat);\n{_FLOOD}  free(seat);\n  return 0;\n}}\n"
        }
    )
    place.run("gcc", "-g", "-O0", "-o", "prog", "prog.c", keep=False)
    place.run("valgrind", "--log-fd=2", "./prog")


@case("gdb-backtrace", "script", "gdb", "gcc")
def gdb(place: Place) -> None:
    place.write(
        {
            "prog.c": '#include <stdio.h>\n#include <string.h>\nstatic int deep(int n, char *p) { if (n == 0) return strlen(p + 1); return deep(n - 1, p) + 1; }\nint main(void) {\n  for (int n = 0; n < 500; n++) printf("warm up %d\\n", n);\n  fflush(stdout);\n  return deep(220, 0);\n}\n'
        }
    )
    place.run("gcc", "-g", "-O0", "-o", "prog", "prog.c", keep=False)
    place.run("gdb", "-batch", "-nx", "-ex", "run", "-ex", "bt", "-ex", "info registers", "./prog")


@case("strace-missing-file", "script", "strace", "gcc")
def strace(place: Place) -> None:
    place.write(
        {
            "prog.c": '#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n  char name[40], b[8];\n  for (int n = 0; n < 300; n++) {\n    sprintf(name, "spool/%d.job", n);\n    int f = open(name, O_RDONLY);\n    if (f >= 0) { read(f, b, 8); close(f); }\n  }\n  return 0;\n}\n'
        }
    )
    place.write({f"spool/{n}.job": "job\n" for n in range(300) if n != 188})
    place.run("gcc", "-O0", "-o", "prog", "prog.c", keep=False)
    place.run("strace", "./prog")


@case("abort-in-glibc", "script", "gcc")
def glibc(place: Place) -> None:
    _program(
        place,
        f"int main(void) {{\n{_FLOOD}  char *a = malloc(32), *b = a;\n  free(a);\n  free(b);\n{_FLOOD}  return 0;\n}}\n",
    )


@case("assertion-of-child", "script", "bash", "gcc")
def assertion(place: Place) -> None:
    place.write(
        {
            "prog.c": '#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) {\n  int level = atoi(v[1]);\n  assert(level * 3 % 1201 != 17);\n  printf("reservoir %d balanced\\n", level);\n  return 0;\n}\n'
        }
    )
    place.run("gcc", "-g", "-O0", "-o", "prog", "prog.c", keep=False)
    place.shell("for n in $(seq 1 640); do ./prog $n; done")
