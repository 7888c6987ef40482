"""Compares a sandbox with what a session asked for, and says what differs.

The argument is a JSON file. The last line of the output is a count of problems."""

import errno
import hashlib
import json
import os
import subprocess
import sys

problems = 0


def check(what, want, got):
    global problems
    if want != got:
        problems += 1
        print(f"{what}: want {want!r}, got {got!r}")


def described(path):
    """Returns what a tree of the argument has for a path."""
    if os.path.islink(path):
        return "-> " + os.readlink(path)
    with open(path, "rb") as content:
        digest = hashlib.sha256(content.read()).hexdigest()
    return digest + (" executable" if os.stat(path).st_mode & 0o111 else "")


def entries(root):
    """Returns what is below a directory, but for what git keeps."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [f for f in folders if os.path.islink(os.path.join(folder, f))] + files:
            path = os.path.join(folder, name)
            if name != ".git":
                found[os.path.relpath(path, root)] = described(path)
        folders[:] = [f for f in folders if f != ".git"]
    return found


def refusal(path, flags):
    """Returns the error of opening a path to write, None if there is none."""
    try:
        os.close(os.open(path, flags | os.O_WRONLY, 0o600))
        return None
    except OSError as error:
        return errno.errorcode[error.errno]


def check_sealed(root, tree):
    check(f"making a file in {root}", "EROFS", refusal(os.path.join(root, "new"), os.O_CREAT))
    for name, what in tree.items():
        if not what.startswith("-> "):
            check(f"writing {root}/{name}", "EROFS", refusal(os.path.join(root, name), 0))


def check_writable(root):
    path = os.path.join(root, "folder", "new")
    os.mkdir(os.path.dirname(path))
    with open(path, "w") as file:
        file.write("kept")
    with open(path) as file:
        check(f"reading back from {root}", "kept", file.read())
    os.rename(path, os.path.join(root, "moved"))
    os.remove(os.path.join(root, "moved"))
    os.rmdir(os.path.dirname(path))


def git(repository, *arguments):
    """Returns git's exit code and output."""
    done = subprocess.run(["git", "-C", repository, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout.strip("\n")


def check_repository(path, want):
    check(f"the commit of {path}", (0, want["commit"]), git(path, "rev-parse", "HEAD"))
    check(f"the branch of {path}", want["branch"], git(path, "symbolic-ref", "--quiet", "--short", "HEAD")[1])
    check(f"the origin of {path}", (0, want["url"]), git(path, "config", "remote.origin.url"))
    check(f"git status in {path}", (0, want["status"]), git(path, "status", "--porcelain"))
    check(f"git log in {path}", 0, git(path, "log")[0])
    committed = git(path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "x")[0]
    check(f"whether git commits in {path}", want["writable"], committed == 0)


def main():
    with open(sys.argv[1]) as file:
        want = json.load(file)
    for root, tree in want["trees"].items():
        found = entries(root)
        check(f"the names in {root}", sorted(tree), sorted(found))
        for name in sorted(set(tree) & set(found)):
            if tree[name]:
                check(f"{root}/{name}", tree[name], found[name])
    for root in want["sealed"]:
        check_sealed(root, want["trees"][root])
    for root in want["writable"]:
        check_writable(root)
    for path, repository in want["repositories"].items():
        check_repository(path, repository)
    print(f"{problems} problems", flush=True)


main()
