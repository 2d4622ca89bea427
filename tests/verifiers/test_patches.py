"""Patches do exactly what they say, or are refused with the line that cannot be honoured."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from agent_envs.verifiers.swe.patches import apply, check_path, diff, overlay_of, parse, render, reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_envs.errors import TaskError
from agent_envs.sandboxes.images import TreeFile

# Few different lines, so that equal ones meet; the odd ends are what editors and other systems leave behind.
LINES = st.lists(
    st.sampled_from(["", "a", "b", "a\r", "\x0c", "-- ", "+++ b/x", "é\u2028ü", "\ttab", " "]), max_size=30
)
TEXTS = st.builds(lambda lines, end: ("\n".join(lines) + end).encode(), LINES, st.sampled_from(["", "\n"]))
NAMES = st.sampled_from(["plain.py", "with space.py", "café/ü.py", 'quo"te.py', "back\\slash", "tab\there", "a/b/c"])
FILES = st.builds(TreeFile, TEXTS, st.booleans())
TREES = st.dictionaries(NAMES, FILES, max_size=4)


def git_diff(folder: Path, before: bytes | None, after: bytes | None, *options: str) -> bytes:
    """What git writes about one file `x y.txt` that changes like this."""
    for name, content in (("a", before), ("b", after)):
        (folder / name).mkdir()
        if content is not None:
            (folder / name / "x y.txt").write_bytes(content)
    command = ["git", "-c", "core.autocrlf=false", "diff", "--no-index", "--no-prefix", "--text", *options, "a", "b"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout


def applied(tree: Mapping[str, TreeFile], patch: bytes) -> dict[str, TreeFile]:
    overlay = overlay_of(patch, tree)
    return {path: file for path, file in (tree | overlay.files).items() if path not in overlay.deleted}


@given(before=TREES, after=TREES)
def test_a_patch_between_two_trees_makes_the_second_of_the_first_and_its_reverse_leads_back(
    before: dict[str, TreeFile], after: dict[str, TreeFile]
) -> None:
    patch = diff(before, after)
    if before != after:
        assert render(parse(patch)) == patch
        assert applied(before, patch) == after
        assert applied(after, render(map(reverse, parse(patch)))) == before


@settings(max_examples=40)
@given(before=TEXTS, after=TEXTS, context=st.integers(0, 4))
def test_what_git_writes_is_applied_and_reversed_exactly(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes, context: int
) -> None:
    patch = git_diff(tmp_path_factory.mktemp("git"), before, after, f"-U{context}")
    if before != after:
        (file,) = parse(patch)
        assert (file.path, apply(before, file)) == ("x y.txt", after)
        assert apply(after, reverse(file)) == before


@settings(max_examples=20)
@given(before=TEXTS, after=TEXTS)
def test_git_applies_what_we_write(tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes) -> None:
    folder = tmp_path_factory.mktemp("git")
    (folder / "café x").write_bytes(before)
    patch = diff({"café x": TreeFile(before)}, {"café x": TreeFile(after)})
    if patch:
        command = ["git", "apply", "--whitespace=nowarn", "--unidiff-zero", "-"]
        subprocess.run(command, cwd=folder, input=patch, check=True, capture_output=True)
        assert (folder / "café x").read_bytes() == after


def test_creation_deletion_rename_and_mode_are_told_apart() -> None:
    patch = (
        "From 1a2b Mon Sep 17 00:00:00 2001\nSubject: several things\n---\n x | 2 +-\n\n"
        "diff --git a/old.py b/new.py\nold mode 100644\nnew mode 100755\nsimilarity index 50%\n"
        "rename from old.py\nrename to new.py\nindex 12..34\n--- a/old.py\n+++ b/new.py\n@@ -1 +1 @@ def f\n-a\n+b\n"
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/first b/second\nsimilarity index 100%\ncopy from first\ncopy to second\n-- \n2.39.5\n"
    )
    tree = {"old.py": TreeFile(b"a\n"), "gone": TreeFile(b"x\n"), "first": TreeFile(b"1")}
    assert applied(tree, patch.encode()) == {
        "new.py": TreeFile(b"b\n", executable=True),
        "empty": TreeFile(b""),
        "first": TreeFile(b"1"),
        "second": TreeFile(b"1"),
    }


def test_paths_in_quotes_are_read_as_git_means_them() -> None:
    patch = '--- "a/caf\\303\\251 \\"x\\".py"\n+++ "b/caf\\303\\251 \\"x\\".py"\n@@ -1 +1 @@\n-a\n+b\n'
    assert [file.path for file in parse(patch)] == ['café "x".py']


def test_a_patch_that_lost_its_last_line_feed_and_the_spaces_of_empty_lines_is_still_read() -> None:
    (file,) = parse("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c")
    assert apply(b"a\n\nb\n", file) == b"a\n\nc\n"


HEADER = "diff --git a/x b/x\n"
BODY = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ("", "changes no file"),
        ("hello\n", "changes no file"),
        ("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "is absolute"),
        (BODY.replace("a/x", "a//etc/x").replace("b/x", "b//etc/x"), "is absolute"),
        (BODY.replace("/x", "/../x"), r"leaves the repository with `\.\.`"),
        (BODY.replace("/x", "/sub/.GIT/hooks/x"), r"reaches into `\.git`"),
        (BODY.replace("a/x", '"a/x\\000"').replace("b/x", '"b/x\\000"'), "NUL"),
        (BODY.replace("a/x", '"a/x\\377"').replace("b/x", '"b/x\\377"'), "no UTF-8"),
        (HEADER + "new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n", "line 2 .*symbolic link"),
        (HEADER + "old mode 100644\nnew mode 160000\n", "line 3 .*a submodule"),
        (HEADER + "old mode 100644\nnew mode 104755\n", "mode 104755"),
        (HEADER + "index 1..2\nBinary files a/x and b/x differ\n", "binary"),
        (HEADER + "index 1..2\nGIT binary patch\nliteral 3\nKcmZ\n", "binary"),
        (HEADER + "index 1..2\n", "changes nothing"),
        (HEADER + "strange header\n" + BODY, "no header that git writes"),
        (HEADER + BODY.replace("/x", "/y"), "another file"),
        ("diff --git a/x b/y\nrename from x\nrename to y\n" + BODY, "contradicts"),
        (BODY + BODY, "two parts about 'x'"),
        (BODY.replace("/x", "/x\r"), "carriage return"),
        (BODY.replace("a/x", "x"), "begins with a/"),
        (BODY.replace("+++ b/x\n", ""), r"should be the `\+\+\+` line"),
        (BODY.replace("@@ -1 +1 @@", "@@ nonsense"), "line 3 .*no header of a hunk"),
        (BODY.replace("@@ -1 +1 @@\n-a\n+b\n", ""), "should begin a hunk"),
        (BODY.replace("-1 +1", "-1,2 +1,2"), "cut off"),
        (BODY.replace("-1 +1", "-1,0 +1"), "line 4 .*does not fit the numbers"),
        (BODY + "+c\n", "line 6 .*no part of a patch"),
        (BODY.replace("-a", "\\ No newline"), "follows no line"),
        (HEADER + "new file mode 100644\n" + BODY, "contradicts"),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "should not exist"),
    ],
)
def test_a_patch_that_cannot_be_honoured_is_refused_with_its_reason(patch: str, problem: str) -> None:
    with pytest.raises(TaskError, match=problem):
        parse(patch)


@pytest.mark.parametrize(
    ("base", "problem"),
    [
        (None, "x does not exist"),
        (b"1\n2\nother\n4\n", r"x, hunk 1, line 3: the file has 'other\\n'; the patch expects '3\\n'"),
        (b"1\n2\n3\r\n4\n", r"the file has '3\\r\\n'; the patch expects '3\\n'"),
        (b"1\n2\n3", r"the file has '3'; the patch expects '3\\n'"),
        (b"1\n2\n", "hunk 1, line 3: the file has ended"),
        (b"0\n1\n2\n3\n4\n", "line 2: the file has '1"),
        (b"", "begins at line 2; the file has 0"),
    ],
)
def test_a_base_that_differs_is_named_by_file_hunk_and_line(base: bytes | None, problem: str) -> None:
    (file,) = parse("--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n 2\n-3\n+drei\n 4\n")
    with pytest.raises(TaskError, match=problem):
        apply(base, file)


def test_a_file_that_should_be_new_and_a_rename_onto_another_are_refused() -> None:
    with pytest.raises(TaskError, match="x exists already"):
        overlay_of("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", {"x": TreeFile(b"")})
    rename = "diff --git a/x b/y\nrename from x\nrename to y\n"
    with pytest.raises(TaskError, match="y exists already"):
        overlay_of(rename, {"x": TreeFile(b""), "y": TreeFile(b"")})


def test_a_deletion_that_forgets_lines_and_a_line_feed_lost_in_the_middle_are_refused() -> None:
    (deletion,) = parse("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    with pytest.raises(TaskError, match="1 of its lines would be left"):
        apply(b"a\nb\n", deletion)
    (joined,) = parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")
    with pytest.raises(TaskError, match="without a line feed"):
        apply(b"a\nb\n", joined)


def test_a_copy_has_no_reverse() -> None:
    (copy,) = parse("diff --git a/x b/y\ncopy from x\ncopy to y\n")
    with pytest.raises(TaskError, match="has no reverse"):
        reverse(copy)


def test_an_ordinary_path_is_returned_as_it_is() -> None:
    assert check_path("docs/.github/x..y") == "docs/.github/x..y"
