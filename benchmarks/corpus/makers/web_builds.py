"""Compilers and bundlers of the web, and installers of packages."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case


def modules(count: int, extension: str = "js") -> dict[str, str]:
    """Modules that import each other in a row."""
    kind = ": number" if extension == "ts" else ""
    return {
        f"src/m{n:03}.{extension}": (
            f"import {{ f{n + 1} }} from './m{n + 1:03}';\n" if n + 1 < count else ""
        )
        + f"export const f{n} = (x{kind}){kind} => x + {n}"
        + (f" + f{n + 1}(x);\n" if n + 1 < count else ";\n")
        for n in range(count)
    }


@case("webpack-module-not-found", "build", "webpack")
def webpack(place: Place) -> None:
    place.write(modules(330))
    place.write(
        {
            "src/m054.js": "import { f55 } from './m055';\nimport { clamp } from './numbers/clamp';\nexport const f54 = (x) => clamp(f55(x));\n",
            "webpack.config.js": "module.exports = { mode: 'none', entry: './src/m000.js', stats: { preset: 'verbose', modulesSpace: 9999, nestedModulesSpace: 9999 } };\n",
        }
    )
    place.node_modules()
    place.run("webpack", "--config", "webpack.config.js", "--no-color")


@case("rollup-missing-export", "build", "rollup")
def rollup(place: Place) -> None:
    for n in range(120):
        place.write({f"src/w{n:03}.js": f"export const w = () => eval('{n}');\n"})
    place.write(
        {
            "src/w077.js": "export const v = 1;\n",
            "src/main.js": "".join(f"import {{ w as w{n} }} from './w{n:03}.js';\n" for n in range(120))
            + "export default ["
            + ",".join(f"w{n}" for n in range(120))
            + "];\n",
        }
    )
    place.shell(
        "for n in $(seq -w 0 119); do rollup src/w$n.js -f es -o out/w$n.js; done; rollup src/main.js -f es -o out/main.js; rollup src/w001.js -f es; ls -l out"
    )


@case("esbuild-expected-brace", "build", "esbuild")
def esbuild(place: Place) -> None:
    place.write(modules(90))
    for n in range(90):
        with (place.folder / f"src/m{n:03}.js").open("a") as file:
            file.write(f"if (typeof f{n} === 'functoin') {{ }}\n")
    place.write(
        {
            "src/m047.js": "import { f48 } from './m048';\nexport const f47 = (x) => { return { a: x, b: f48(x) ;\n};\n"
        }
    )
    place.run("esbuild", "src/m000.js", "--bundle", "--outfile=out.js", "--log-limit=0", "--color=false")


@case("tsc-one-type-error", "build", "tsc")
def tsc(place: Place) -> None:
    place.write(modules(240, "ts"))
    place.write(
        {
            "src/m120.ts": "import { f121 } from './m121';\nexport const f120 = (x: number): string => x + f121(x);\n"
        }
    )
    place.run(
        "tsc", "--noEmit", "--listFiles", "--pretty", "false", *sorted(f"src/m{n:03}.ts" for n in range(240))
    )


@case("sass-undefined-variable", "build", "sass")
def sass(place: Place) -> None:
    place.write(
        {
            f"scss/p{n:02}.scss": f"@import 'base';\n.p{n} {{ width: math-div($w, {n + 1}); color: darken($c, 5%); }}\n"
            for n in range(30)
        }
    )
    place.write(
        {
            "scss/_base.scss": "$w: 100px;\n$c: #abc;\n",
            "scss/p21.scss": "@import 'base';\n.p21 {\n  color: $brand-accent;\n}\n",
        }
    )
    place.run("sass", "--no-color", "--no-unicode", "--verbose", "--no-stop-on-error", "scss:out")


@case("solc-type-error", "build", "solcjs")
def solc(place: Place) -> None:
    place.write(
        {
            f"c{n:02}.sol": f"contract C{n} {{\n  function f(uint a, uint b) public returns (uint c) {{ c = {n}; }}\n}}\n"
            for n in range(24)
        }
    )
    place.write(
        {
            "c11.sol": "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\ncontract C11 {\n  function f(uint a) public pure returns (address) { return a; }\n}\n"
        }
    )
    place.run("solcjs", "--bin", *sorted(f"c{n:02}.sol" for n in range(24)))


@case("flow-incompatible", "build", "flow")
def flow(place: Place) -> None:
    place.write({".flowconfig": "[options]\n[lints]\nunclear-type=warn\n"})
    place.write(
        {f"src/m{n:02}.js": f"// @flow\nexport const f{n} = (x: any): any => x;\n" for n in range(60)}
    )
    place.write(
        {"src/m34.js": "// @flow\nconst label = (n: number): string => n;\nexport const f34 = label;\n"}
    )
    place.run(
        "flow",
        "full-check",
        "--include-warnings",
        "--color",
        "never",
        "--show-all-errors",
        FLOW_TEMP_DIR=str(place.folder / "tmp"),
    )


@case("rescript-wrong-field", "build", "rescript")
def rescript(place: Place) -> None:
    place.node_modules()
    place.write(
        {
            "rescript.json": '{"name": "quay", "sources": "src", "package-specs": {"module": "esmodule", "in-source": true}}',
            "package.json": '{"name": "quay"}',
        }
    )
    place.write(
        {f"src/Dock{n}.res": f"let fee = (x) => {{\n  let spare = x + 1\n  x * {n}\n}}\n" for n in range(60)}
    )
    place.write(
        {"src/Dock27.res": "type ship = {name: string, tons: int}\nlet fee = (s: ship) => s.tonnage * 2\n"}
    )
    place.run("rescript", "build")


@case("npm-install-not-cached", "build", "npm")
def npm_peer(place: Place) -> None:
    deps = ", ".join(f'"lib{n}": "file:./lib{n}"' for n in range(150))
    place.write({f"lib{n}/package.json": f'{{"name": "lib{n}", "version": "1.{n}.0"}}' for n in range(150)})
    place.write(
        {
            "package.json": f'{{"name": "app", "version": "1.0.0", "dependencies": {{{deps}, "skin": "file:./skin"}}}}',
            "skin/package.json": '{"name": "skin", "version": "2.0.0", "peerDependencies": {"lib7": "^3.0.0"}}',
        }
    )
    place.run("npm", "install", "--offline", "--loglevel", "silly", "--no-audit", "--no-fund")


@case("npm-script-fails-in-workspace", "build", "npm", "node")
def npm_workspaces(place: Place) -> None:
    for n in range(30):
        body = "process.exit(0)" if n != 12 else "throw new TypeError('theme.colours is not iterable')"
        place.write(
            {
                f"w/p{n:02}/package.json": f'{{"name": "p{n:02}", "version": "1.0.0", "scripts": {{"build": "node build.js"}}}}',
                f"w/p{n:02}/build.js": f"for (let k = 0; k < 12; k += 1) console.log('p{n:02}: asset', k, 'written, 0 errors');\n{body};\n",
            }
        )
    place.write({"package.json": '{"name": "root", "private": true, "workspaces": ["w/*"]}'})
    place.run("npm", "run", "build", "--workspaces", "--foreground-scripts")


@case("pip-sdist-does-not-compile", "build", "pip", "gcc")
def pip_build(place: Place) -> None:
    place.shell("python -m venv --system-site-packages --without-pip v >/dev/null 2>&1", keep=False)
    place.write(
        {
            "setup.py": "from setuptools import setup, Extension\nsetup(name='fastsum', version='0.4', ext_modules=[Extension(f'fastsum.k{n:02}', [f'k{n:02}.c']) for n in range(24)])\n"
        }
    )
    place.write(
        {
            f"k{n:02}.c": f'#include <Python.h>\nstatic struct PyModuleDef d = {{PyModuleDef_HEAD_INIT, "k{n:02}", 0, -1, 0}};\nPyMODINIT_FUNC PyInit_k{n:02}(void) {{ int spare; return PyModule_Create(&d); }}\n'
            for n in range(24)
        }
    )
    place.write(
        {
            "k09.c": "#include <Python.h>\n#include <simd_kernels.h>\nPyMODINIT_FUNC PyInit_k09(void) { return 0; }\n"
        }
    )
    place.run(
        "pip",
        "install",
        "-v",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "--target",
        "t",
        ".",
        CFLAGS="-Wall",
    )


@case("pip-versions-conflict", "build", "pip")
def pip_conflict(place: Place) -> None:
    place.write({"wheels.py": _WHEELS})
    place.run("python", "wheels.py", keep=False)
    place.run(
        "pip",
        "install",
        "-v",
        "--no-index",
        "--find-links",
        "wheels",
        "--target",
        "t",
        "pier",
        "quay",
        "dock0",
        *[f"dock{n}" for n in range(1, 260)],
    )


@case("uv-no-solution", "build", "uv")
def uv(place: Place) -> None:
    place.write({"wheels.py": _WHEELS})
    place.run("python", "wheels.py", keep=False)
    place.run(
        "uv",
        "pip",
        "install",
        "-v",
        "--no-index",
        "--offline",
        "--find-links",
        "wheels",
        "--target",
        "t",
        "pier",
        "quay",
        *[f"dock{n}" for n in range(260)],
        UV_CACHE_DIR=str(place.folder / "cache"),
    )


_WHEELS = """import os, zipfile
os.makedirs('wheels')
def wheel(name, version, *needs):
    info = f'{name}-{version}.dist-info'
    with zipfile.ZipFile(f'wheels/{name}-{version}-py3-none-any.whl', 'w') as file:
        file.writestr(f'{name}.py', '')
        file.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n' + ''.join(f'Requires-Dist: {need}\\n' for need in needs))
        file.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        file.writestr(f'{info}/RECORD', '')
for n in range(260):
    wheel(f'dock{n}', '1.0')
for minor in range(6):
    wheel('rope', f'2.{minor}')
wheel('pier', '1.0', 'rope<2.2')
wheel('quay', '3.1', 'rope>=2.4')
"""
