"""What is published: one version, one place, metadata without developers' extras; workflows that run what is pinned, with few rights."""

from __future__ import annotations

import io
import json
import re
import runpy
import sys
import tarfile
import tomllib
import zipfile

import pytest
import yaml
from support import ROOT

import spillstore

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
# Each action with the commit of its release: found alike in workflows of several projects that pin them.
PINNED = {
    "actions/checkout": "08c6903cd8c0fde910a37f88322edcfb5dd907a8",
    "actions/setup-python": "e797f83bcb11b83ae66e0230d6156d7c80228e7c",
    "actions/upload-artifact": "330a01c490aca151604b8cf639adc76d48f6c5d4",
    "actions/download-artifact": "018cc2cf5baa6db3ef3c5f8a56943fffe632ef53",
    "actions/attest-build-provenance": "977bb373ede98d70efdf65b84cb5f73e068dcc2a",
    "pypa/gh-action-pypi-publish": "76f52bc884231f62b9a034ebfe128415bbaabdfc",
}


@pytest.fixture(scope="module")
def release():
    """The names of `.ci/release.py`."""
    return runpy.run_path(str(ROOT / ".ci" / "release.py"))


# --- one version, one place ----------------------------------------------------------------------------------


def test_every_version_is_that_of_the_library(release):
    """In registries' files, plugins and the bundle; the check of a release reads the same one."""
    assert release["version"]() == spillstore.__version__
    assert set(release["versions"]().values()) == {spillstore.__version__}
    assert len(release["versions"]()) >= 7
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "store/spillstore/_version.py"


def test_a_tag_must_name_the_version(release):
    """And the changelog its date."""
    release["check_versions"](None)
    for tag, told in (
        ("v9.9", "the tag is v9.9"),
        (f"v{spillstore.__version__}", "CHANGELOG.md has no heading"),
    ):
        if (
            told.startswith("CHANGELOG")
            and f"## [{spillstore.__version__}] - " in (ROOT / "CHANGELOG.md").read_text()
        ):
            continue
        with pytest.raises(release["ReleaseError"], match=told):
            release["check_versions"](tag)


def test_the_place_of_the_project_is_the_registrys(release):
    """Its owner is that of `server.json` and of the README."""
    assert release["check_owner"]().endswith(PYPROJECT["project"]["urls"]["Source"])


def test_tools_of_developers_are_groups_and_no_extras(release):
    """What a user can ask for is for users."""
    assert release["DEVELOPERS"] == set(PYPROJECT["dependency-groups"])
    assert release["DEVELOPERS"].isdisjoint(PYPROJECT["project"]["optional-dependencies"])
    assert release["URLS"] == set(PYPROJECT["project"]["urls"])
    assert "authors" not in PYPROJECT["project"]


def test_make_brings_a_pip_that_knows_groups():
    """Before the first group is installed: an older one takes `--group` for an error."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = re.findall(r"^\$\(VENV\)/(\S+): (.*)\n((?:\t.*\n)*)", text, re.MULTILINE)
    needs = {name: re.findall(r"\$\(VENV\)/(\S+)", before) for name, before, _ in rules}

    def brought(name):
        return name == ".groups" or any(map(brought, needs.get(name, ())))

    with_groups = [name for name, _, recipe in rules if "--group" in recipe]
    assert len(with_groups) >= 5
    assert [name for name in with_groups if not brought(name)] == []
    assert "'pip>=25.1'" in text


# --- findings ------------------------------------------------------------------------------------------------


def wheel(folder, *, metadata, names=(), tag="py3-none-any"):
    """A wheel with so much in it."""
    path = folder / f"spillstore-{spillstore.__version__}-{tag}.whl"
    info = f"spillstore-{spillstore.__version__}.dist-info"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr(f"{info}/METADATA", metadata)
        opened.writestr(
            f"{info}/entry_points.txt", "[console_scripts]\nspillstore = a:b\nspillstore-sh = a:c\n"
        )
        for name in names:
            opened.writestr(name, "")
    return path


NEEDED = tuple(f"{name}/py.typed" for name in ("spillstore", "spillstore_migrations", "spillstore_tools"))
NEEDED += tuple(f"spillstore_tools/viewer/web/assets/{name}" for name in ("icon.svg", "ui.css", "ui.js"))


def metadata(**changed):
    """Metadata in order, but for what is changed."""
    fields = {
        "Metadata-Version": "2.4",
        "Name": "spillstore",
        "Version": spillstore.__version__,
        "Requires-Python": PYPROJECT["project"]["requires-python"],
    } | changed
    urls = "".join(f"Project-URL: {name}, {url}\n" for name, url in PYPROJECT["project"]["urls"].items())
    page = fields.pop("page", "[all](https://example.com)")
    return (
        "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items())
        + f"{urls}\n{page}\n"
    )


def test_metadata_in_order_are_no_finding(release, tmp_path):
    """Nor are those of our own wheel, which `make release-check` builds."""
    assert release["check_metadata"](wheel(tmp_path, metadata=metadata()))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"Version": "9"}, "Version is 9"),
        ({"Provides_Extra": "dev"}, r"extras for developers: \['dev'\]"),
        ({"Requires-Python": ">=3.9"}, "Requires-Python is >=3.9"),
        ({"page": "[a](docs/cli.md)"}, r"relative links: \['docs/cli.md'\]"),
    ],
)
def test_what_would_be_wrong_on_a_package_index_is_a_finding(release, tmp_path, changed, told):
    """Each by its name."""
    with pytest.raises(release["ReleaseError"], match=told):
        release["check_metadata"](wheel(tmp_path, metadata=metadata(**changed)))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((*NEEDED, "tests/test_a.py"), "tests is none of ours"),
        (NEEDED[:2], "spillstore_tools/py.typed is missing"),
        (NEEDED[:-1], "ui.js is missing"),
        ((*NEEDED, "spillstore/__pycache__/a.pyc"), "__pycache__"),
    ],
)
def test_what_does_not_belong_into_a_wheel_is_a_finding(release, tmp_path, names, told):
    """And so is what is missing."""
    assert release["check_contents"](wheel(tmp_path, metadata=metadata(), names=NEEDED))
    with pytest.raises(release["ReleaseError"], match=told):
        release["check_contents"](wheel(tmp_path, metadata=metadata(), names=names))


def test_a_wheel_of_a_platform_has_its_native_functions(release, tmp_path):
    """Else it would be for any."""
    with pytest.raises(release["ReleaseError"], match="no native functions"):
        release["check_contents"](
            wheel(tmp_path, metadata=metadata(), names=NEEDED, tag="py3-none-linux_x86_64")
        )


def test_a_source_distribution_holds_no_library_that_was_built(release, tmp_path):
    """And what is needed to build is there."""
    path = tmp_path / f"spillstore-{spillstore.__version__}.tar.gz"
    with tarfile.open(path, "w:gz") as opened:
        member = tarfile.TarInfo("spillstore-1/store/spillstore/_native/scan.so")
        opened.addfile(member, io.BytesIO())
    with pytest.raises(release["ReleaseError"], match=r"pyproject.toml is missing.*scan.so"):
        release["check_sdist"](path)


@pytest.mark.long
def test_a_command_that_fails_is_a_finding(release):
    """With what it printed."""
    with pytest.raises(release["ReleaseError"], match="ended with 3:\nwhy"):
        release["run"](sys.executable, "-c", "print('why'); raise SystemExit(3)")


# --- workflows and forms -------------------------------------------------------------------------------------


def workflow(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_commit(path):
    """By all forty digits, and with the release that it is, for people."""
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)@(\S+)(.*)", text)
    assert used
    assert [(name, commit) for name, commit, _ in used if PINNED.get(name) != commit] == []
    assert all(re.fullmatch(r" # v\d+\.\d+\.\d+", told) for _, _, told in used)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_job_has_a_right_that_it_does_not_name(path):
    """Nothing is given to all; no text that others write is put into a command."""
    found = workflow(path)
    assert found["permissions"] == {}
    for job in found["jobs"].values():
        assert job["permissions"]
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_a_release_is_built_without_rights_and_uploaded_without_code_of_ours():
    """Who may attest or upload runs no build; trusted publishing needs no password."""
    jobs = workflow(ROOT / ".github/workflows/release.yml")["jobs"]
    for name, job in jobs.items():
        steps = " ".join(f"{step.get('uses', '')} {step.get('run', '')}" for step in job["steps"])
        if job["permissions"] != {"contents": "read"}:
            assert not re.search(r"make|pip |checkout", steps), name
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert jobs["attest"]["permissions"] == {"id-token": "write", "attestations": "write"}
    assert jobs["pypi"]["environment"]["name"] == "pypi"
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert [jobs[name]["needs"] for name in ("check", "attest", "pypi", "github")] == [
        ["build"],
        ["check"],
        ["attest"],
        ["pypi"],
    ]


def test_changes_are_checked_on_every_python_and_system_that_is_supported():
    """Those of the classifiers, by the script that checks anywhere."""
    job = workflow(ROOT / ".github/workflows/ci.yml")["jobs"]["check"]
    matrix = job["strategy"]["matrix"]
    told = {
        each.rpartition(" ")[2]
        for each in PYPROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", each)
    }
    assert set(matrix["python"]) == told == {"3.11", "3.12", "3.13", "3.14"}
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos"}
    assert job["steps"][-1]["run"] == ".ci/run"


def test_what_workflows_make_is_a_target():
    """Of the Makefile."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = set()
    for path in WORKFLOWS:
        for command in re.findall(r"run: make (.+)", path.read_text(encoding="utf-8")):
            used |= {word for word in command.split() if "=" not in word}
    assert used
    assert used <= targets


@pytest.mark.parametrize(
    "path", [path for path in FORMS if path.name != "config.yml"], ids=lambda path: path.stem
)
def test_forms_for_issues_are_what_the_host_takes(path):
    """A name, a description, fields of known types with ids of their own, and at least one that must be filled in."""
    form = workflow(path)
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "labels", "body"}
    fields = form["body"]
    assert {field["type"] for field in fields} <= {"textarea", "input", "markdown", "dropdown", "checkboxes"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_links_for_issues_lead_to_the_project():
    """To the private way for a vulnerability, which SECURITY.md names, too."""
    [link] = workflow(ROOT / ".github/ISSUE_TEMPLATE/config.yml")["contact_links"]
    assert link["url"] == f"{PYPROJECT['project']['urls']['Source']}/security/advisories/new"
    assert link["url"] in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_bundle_and_plugins_are_in_the_source_distribution():
    """With the files of the registries, and what checks a release."""
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/plugins", "/server.json", "/.claude-plugin", "/.agents", "/.ci", "/.github"} <= set(included)
    assert (
        json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"][0]["identifier"]
        == "spillstore"
    )
