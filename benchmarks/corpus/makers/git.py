"""Git: conflicts, hooks, refused pushes, bisection, damage."""

from __future__ import annotations

from benchmarks.corpus.case import Place, case

_INIT = "git init -q -b main . && git config gc.auto 0\n"


@case("git-merge-conflict", "script", "git")
def merge(place: Place) -> None:
    place.shell(
        _INIT
        + 'for n in $(seq -w 1 700); do echo "rule $n" > rule-$n.txt; done; git add . && git commit -qm base\n'
        "git checkout -qb other; for n in $(seq -w 1 350); do echo other >> rule-$n.txt; done; git commit -qam other\n"
        "git checkout -q main; for n in $(seq -w 100 100); do echo main >> rule-$n.txt; done; for n in $(seq -w 351 700); do echo main >> rule-$n.txt; done; git commit -qam main",
        keep=False,
    )
    place.shell("git log --stat --format=%s -1; git merge other; git status; git diff --stat HEAD")


@case("git-rebase-conflict", "script", "git")
def rebase(place: Place) -> None:
    place.shell(
        _INIT + "echo 0 > count; git add . && git commit -qm base; git checkout -qb topic\n"
        'for n in $(seq 1 420); do echo $n > file-$n; git add .; if [ $n = 64 ]; then echo 64 > count; fi; git commit -qam "Adds part $n"; done\n'
        "git checkout -q main; echo 7 > count; git commit -qam 'Counts seven'; git checkout -q topic",
        keep=False,
    )
    place.shell(
        "git log --stat --oneline -150; git rebase main; git log --oneline main..topic; git status --short"
    )


@case("git-hook-refuses", "script", "git", "bash")
def hook(place: Place) -> None:
    place.write(
        {
            ".git-hook": '#!/bin/bash\nfor f in $(git diff --cached --name-only); do\n  echo "checking $f ... no errors"\n  if [ $(wc -c < $f) -gt 500 ]; then echo "$f: 512 bytes, at most 500 are allowed in src"; bad=1; fi\ndone\nfor n in $(seq 1 150); do echo "unlocking $n"; done\nexit ${bad:-0}\n'
        }
    )
    place.shell(
        _INIT
        + "cp .git-hook .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; mkdir src; for n in $(seq -w 1 700); do echo $n > src/$n.c; done; head -c 512 /dev/zero | tr '\\0' x > src/171.c; git add src",
        keep=False,
    )
    place.shell("git commit -m 'Adds sources'")


@case("git-push-rejected", "script", "git")
def push(place: Place) -> None:
    place.shell(
        "git init -q --bare -b main hub.git; git clone -q hub.git one 2>/dev/null; cd one; git checkout -qb main; echo 1 > a; git add a; git commit -qm a; git push -q origin main\n"
        "git clone -q ../hub.git ../two; cd ../two; echo 2 > b; git add b; git commit -qm b; git push -q origin main; cd ../one\n"
        "for n in $(seq 1 220); do git branch topic-$n; done; echo 3 > c; git add c; git commit -qm c",
        keep=False,
    )
    place.shell("cd one; git push -v --all origin")


@case("git-bisect-run", "script", "git", "bash")
def bisect(place: Place) -> None:
    place.write(
        {
            "probe.sh": '#!/bin/bash\nfor n in $(seq 1 40); do echo "probing sensor $n: error 0"; done\ntest $(cat level) -lt 73\n'
        }
    )
    place.shell(
        _INIT
        + 'for n in $(seq 1 100); do echo $n > level; git add level; git commit -qm "Sets level $n"; done',
        keep=False,
    )
    place.shell(
        'git bisect start HEAD HEAD~99; git bisect run bash probe.sh; for n in $(seq 1 200); do echo "$n"; done | xargs -n1 echo removing worktree'
    )


@case("git-apply-rejects", "script", "git")
def apply(place: Place) -> None:
    place.shell(
        _INIT
        + "for n in $(seq -w 1 200); do seq 1 30 > f-$n; done; git add .; git commit -qm base; sed -i 's/^15$/fifteen/' f-*; git diff > ../all.patch; git checkout -q .; sed -i 's/^16$/SIXTEEN/' f-117; mv ../all.patch .",
        keep=False,
    )
    place.shell("git apply --reject -v all.patch")


@case("git-fsck-corrupt", "script", "git")
def fsck(place: Place) -> None:
    place.shell(
        _INIT
        + 'for n in $(seq 1 200); do echo $n > f; git add f; git commit -qm "Step $n"; done; b=$(git rev-parse HEAD~50:f); p=.git/objects/${b:0:2}/${b:2}; chmod +w $p; printf x > $p',
        keep=False,
    )
    place.shell("git fsck --verbose --full")


@case("git-submodule-and-cherry-pick", "script", "git")
def cherry_pick(place: Place) -> None:
    place.shell(
        _INIT
        + "echo a > list; git add list; git commit -qm base; git checkout -qb feature; for n in $(seq 1 150); do echo $n >> part-$((n % 10)); git add .; git commit -qm \"Feature part $n\"; done; git rm -q list; git commit -qm 'Drops the list'; echo z > z; git add z; git commit -qm last; git checkout -q main; echo b >> list; git commit -qam 'Grows the list'",
        keep=False,
    )
    place.shell("git cherry-pick main..feature; git status; git log --stat --oneline -60")
