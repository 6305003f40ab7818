"""Checks all of a release but its upload: ``python .ci/release.py [--dist FOLDER] [--tag vVERSION]`` (``make release-check``).

What git has is built in a folder of its own, as a stranger would build it, and looked at: versions, metadata, contents, an
installation into a fresh environment with the first useful result, a bill of materials, and what plugins and registries read. With
``--dist`` the files that are there are checked instead, and the bill of materials is put beside them. Every finding is told; the exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import email
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = ("spillstore", "spillstore_migrations", "spillstore_tools")
DEVELOPERS = {
    "test",
    "fuzz",
    "audit",
    "lint",
    "docs",
    "bench",
    "wheels",
    "release",
    "dev",
}  # dependency groups, never extras
URLS = {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
SECONDS = 15  # of the installation with the first useful result; told, and no finding, for machines differ
ASSETS = [f"spillstore_tools/viewer/web/assets/{name}" for name in ("icon.svg", "ui.css", "ui.js")]
LARGEST = 3_000_000  # bytes of a wheel
SBOM = "spillstore.cdx.json"
FAILING = "seq 1 20000; echo 'src/a.c:3: error: boom'; seq 1 20000; exit 3"


class ReleaseError(Exception):
    """A finding."""


def run(*command: object, cwd: Path = ROOT, code: int = 0) -> str:
    """What a command prints; a finding if it ends otherwise."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )  # fmt: skip
    if done.returncode != code:
        raise ReleaseError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def project() -> dict[str, Any]:
    """The table ``project`` of ``pyproject.toml``."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def _json(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def version() -> str:
    """The version, from the one place that states it."""
    text = (ROOT / "store" / "spillstore" / "_version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    assert found is not None  # a test imports it
    return found[1]


def versions() -> dict[str, str]:
    """Every version that a published file repeats, by where it stands."""
    server = _json("server.json")
    bundle = tomllib.loads((ROOT / "plugins/mcpb/pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "server.json": server["version"],
        **{f"server.json, package {n}": each["version"] for n, each in enumerate(server["packages"])},
        **{
            path: _json(path)["version"]
            for path in (
                "plugins/claude-code/.claude-plugin/plugin.json",
                "plugins/codex/.codex-plugin/plugin.json",
                "plugins/mcpb/manifest.json",
            )
        },
        "plugins/mcpb/pyproject.toml": bundle["version"],
        **{
            f"plugins/mcpb/pyproject.toml, {each}": each.partition("==")[2] for each in bundle["dependencies"]
        },
    }


def check_versions(tag: str | None) -> str:
    """They are one; a tag names it, and the changelog has its date."""
    ours = version()
    wrong = {where: each for where, each in versions().items() if each != ours}
    if wrong:
        raise ReleaseError(f"the version is {ours}, but {wrong}")
    if tag is not None:
        if tag != f"v{ours}":
            raise ReleaseError(f"the tag is {tag}, the version {ours}")
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        if not re.search(rf"^## \[{re.escape(ours)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
            raise ReleaseError(f"CHANGELOG.md has no heading '## [{ours}] - DATE'")
    return f"version {ours}, in {len(versions()) + 1} places"


def check_owner() -> str:
    """The place of the project: that of ``pyproject.toml`` in what registries read, too."""
    source = project()["urls"]["Source"]
    owner = source.removeprefix("https://github.com/").split("/")[0]
    name = f"io.github.{owner}/spillstore"
    if _json("server.json")["name"] != name:
        raise ReleaseError(f"server.json is not of {name}, which pyproject.toml names")
    if f"mcp-name: {name} " not in (ROOT / "README.md").read_text(encoding="utf-8"):
        raise ReleaseError(f"README.md has no 'mcp-name: {name}'")
    return f"the project is {source}"


def build(into: Path) -> str:
    """An sdist of what git has, and the wheel of that sdist, each in an environment of its own; twice, to the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        archive, again = Path(folder, "tree.tar"), Path(folder, "again")
        run("git", "archive", "--format=tar", f"--output={archive}", "HEAD")
        for number, out in enumerate((into, again)):
            tree = Path(folder, f"tree {number}")
            tree.mkdir()
            run("tar", "-xf", archive, "-C", tree)
            run(sys.executable, "-m", "build", "--outdir", out.resolve(), ".", cwd=tree)
        for path in files(into):
            if path.read_bytes() != (again / path.name).read_bytes():
                raise ReleaseError(f"{path.name} is another one when it is built again")
    return "built twice alike: " + ", ".join(
        f"{path.name} ({path.stat().st_size:,} bytes)" for path in files(into)
    )


def files(dist: Path) -> list[Path]:
    """The distributions in a folder; there must be an sdist and a wheel."""
    found = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    if {path.suffix for path in found} != {".whl", ".gz"}:
        raise ReleaseError(f"{dist} has no sdist, or no wheel: {[path.name for path in found]}")
    return found


def wheels(dist: Path) -> list[Path]:
    """The wheels in a folder."""
    return [path for path in files(dist) if path.suffix == ".whl"]


def check_metadata(wheel: Path) -> str:
    """What a package index shows: links that work there, no extras for developers, this version."""
    with zipfile.ZipFile(wheel) as opened:
        [name] = [each for each in opened.namelist() if each.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(opened.read(name))
    problems = []
    if metadata["Version"] != version():
        problems.append(f"Version is {metadata['Version']}")
    urls = {each.partition(",")[0] for each in metadata.get_all("Project-URL", [])}
    if missing := URLS - urls:
        problems.append(f"no URL for {sorted(missing)}")
    if extras := DEVELOPERS & set(metadata.get_all("Provides-Extra", [])):
        problems.append(f"extras for developers: {sorted(extras)}")
    if relative := relative_links(str(metadata.get_payload())):
        problems.append(f"relative links: {relative}")
    if metadata["Requires-Python"] != project()["requires-python"]:
        problems.append(f"Requires-Python is {metadata['Requires-Python']}")
    if problems:
        raise ReleaseError(f"{wheel.name}: {'; '.join(problems)}")
    return f"metadata of {wheel.name}"


def relative_links(page: str) -> list[str]:
    """Targets of links and pictures that lead nowhere on another site."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return [each for each in re.findall(r"\]\(([^)\s]+)", prose) if not each.startswith("https://")]


def check_contents(wheel: Path) -> str:
    """The three packages with their types and both commands, and nothing else; small."""
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
        [entries] = [opened.read(each).decode() for each in names if each.endswith("/entry_points.txt")]
    tops = {name.partition("/")[0] for name in names}
    foreign = [each for each in tops if each not in PACKAGES and not each.endswith(".dist-info")]
    problems = [f"{each} is none of ours" for each in foreign]
    problems += [f"{each}/py.typed is missing" for each in PACKAGES if f"{each}/py.typed" not in names]
    problems += [f"{each} is missing" for each in ASSETS if each not in names]
    problems += [f"{each} is no command" for each in project()["scripts"] if f"{each} = " not in entries]
    problems += [name for name in names if re.search(r"__pycache__|\.pyc$|\.tmp$|/tests?/", name)]
    native = any(name.endswith(".so") for name in names)
    if not native and not wheel.name.endswith("-any.whl"):
        problems.append("it is for one platform and has no native functions")
    if wheel.stat().st_size > LARGEST:
        problems.append(f"it has {wheel.stat().st_size:,} bytes")
    if problems:
        raise ReleaseError(f"{wheel.name}: {'; '.join(problems)}")
    return f"contents of {wheel.name}: {len(names)} files, {'with' if native else 'without'} native functions"


def check_sdist(sdist: Path) -> str:
    """It has what is needed to build and to test, and nothing that was built."""
    with tarfile.open(sdist) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    needed = {
        "pyproject.toml",
        "hatch_build.py",
        "README.md",
        "LICENSE",
        "PKG-INFO",
        "Makefile",
        "tests/conftest.py",
    }
    problems = [f"{name} is missing" for name in sorted(needed - names)]
    problems += [name for name in sorted(names) if re.search(r"__pycache__|\.so$|(^|/)\.venv/", name)]
    if problems:
        raise ReleaseError(f"{sdist.name}: {'; '.join(problems)}")
    return f"contents of {sdist.name}: {len(names)} files"


def here(dist: Path) -> Path:
    """The wheel that an installer would take on this machine."""
    from packaging.tags import sys_tags  # noqa: PLC0415  # of the tools for releases
    from packaging.utils import parse_wheel_filename  # noqa: PLC0415

    ranks = {tag: rank for rank, tag in enumerate(sys_tags())}
    fitting = [
        (min(ranks[tag] for tag in tags & ranks.keys()), wheel)
        for wheel in wheels(dist)
        if (tags := parse_wheel_filename(wheel.name)[3]) & ranks.keys()
    ]
    if not fitting:
        raise ReleaseError(f"{dist} has no wheel for this machine")
    return min(fitting)[1]


def check_use(dist: Path, into: Path) -> str:
    """A fresh environment, the wheel of this machine, and a failing command whose error is shown: how long that takes."""
    home = into / "home"
    home.mkdir()
    venv.create(into / "fresh", with_pip=True)
    python = into / "fresh" / "bin" / "python"
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", here(dist))
    installed = time.monotonic()
    environment = ("env", f"HOME={home}", f"SPILLSTORE_ROOT={into / 'store'}")
    shown = run(
        *environment, python.with_name("spillstore"), "run", "--", "sh", "-c", FAILING, cwd=into, code=3
    )
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "src/a.c:3: error: boom" not in shown:
        raise ReleaseError(f"the first result does not show the error:\n{shown[:2000]}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    verdict = "pass" if took < SECONDS else "MISS"
    return (
        f"pip install in {installed - began:.1f} s, first useful result after {took:.1f} s (aim: {SECONDS} s, {verdict}); "
        f"{used:.1f} s of processor time, load {os.getloadavg()[0]:.1f}"
    )


def write_sbom(python: Path, into: Path) -> str:
    """The bill of materials of an installation, in the format CycloneDX; it names every dependency."""
    path = into / SBOM
    run(sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", ROOT / "pyproject.toml",
        "--output-reproducible", "--output-file", path.resolve(), python)  # fmt: skip
    bill = json.loads(path.read_text(encoding="utf-8"))
    named = {each["name"].lower().replace("_", "-") for each in bill["components"]}
    needed = {re.split(r"[^\w-]", each)[0].lower() for each in project()["dependencies"]}
    if missing := needed - named:
        raise ReleaseError(f"{SBOM} has no {sorted(missing)}")
    return f"{SBOM}: {bill['bomFormat']} {bill['specVersion']}, {len(named)} components"


def check_manifests() -> str:
    """``server.json`` by its schema, plugins and the bundle by our tests and, where they can be had, by their own validators."""
    tests = ("tests/tools/agents/test_published_files.py", "tests/agents/test_validators.py")
    printed = run(sys.executable, "-m", "pytest", "-q", "-m", "agents or not agents", *tests)
    return f"plugin manifests and registry files: {printed.strip().splitlines()[-1].strip('= ')}"


def main() -> int:
    """Check; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dist", type=Path, help="a folder with an sdist and wheels to check, instead of building"
    )
    parser.add_argument("--tag", help="the tag of the release, such as v0.1.0")
    options = parser.parse_args()
    findings = 0

    def step(check: Any, *arguments: object) -> bool:
        nonlocal findings
        try:
            print(f"ok: {check(*arguments)}", flush=True)
        except ReleaseError as error:
            print(f"PROBLEM: {error}", flush=True)
            findings += 1
            return False
        return True

    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder)
        dist = options.dist or into / "dist"
        step(check_versions, options.tag)
        step(check_owner)
        if options.dist or step(build, dist):
            for wheel in wheels(dist):
                step(check_metadata, wheel)
                step(check_contents, wheel)
            step(check_sdist, next(path for path in files(dist) if path.suffix == ".gz"))
            step(
                lambda: (
                    run(sys.executable, "-m", "twine", "check", "--strict", *files(dist))
                    .strip()
                    .replace("\n", "\n    ")
                )
            )
            if step(check_use, dist, into):
                step(write_sbom, into / "fresh" / "bin" / "python", dist)
        step(check_manifests)
    print(f"{findings} problems" if findings else "Everything but the upload is in order.")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
