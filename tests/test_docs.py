"""Every example of the README and of docs/ runs as printed.

One markdown file becomes one Python script with the same line numbers: its python blocks stay where they are, its
bash blocks become one-line calls, everything else becomes empty. A reader's copy and paste from top to bottom does the
same thing, and a traceback names the line of the markdown.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(os.environ.get("AGENT_ENVS_CHECKOUT") or Path(__file__).resolve().parents[1])
DOCUMENTS = sorted([*CHECKOUT.glob("README.md"), *CHECKOUT.glob("docs/*.md")])
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
OUTPUT = "<!-- output -->"
MARK = "\x1e"
"""Printed between two blocks, to tell their outputs apart."""
SHELL = 'if __name__ == "__main__": __import__("subprocess").run(["bash", "-euc", {!r}], check=True)'


@dataclass(frozen=True)
class Block:
    """One fenced block of a markdown file."""

    language: str
    text: str
    opening: int
    closing: int
    above: str
    """The last line before it that is not empty."""

    @property
    def runs(self) -> bool:
        if self.language == "bash":
            return self.text.startswith(("agent-envs", "python")) and not NOT_RUN.fullmatch(self.above)
        return self.language == "python"

    @property
    def is_output(self) -> bool:
        return self.language == "text" and self.above == OUTPUT


def blocks_of(markdown: str) -> list[Block]:
    lines = markdown.splitlines()
    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    assert len(fences) % 2 == 0, f"a fence is not closed: lines {[number + 1 for number in fences]}"
    return [
        Block(
            language=lines[opening].removeprefix("```").strip(),
            text="\n".join(lines[opening + 1 : closing]),
            opening=opening,
            closing=closing,
            above=next((line.strip() for line in reversed(lines[:opening]) if line.strip()), ""),
        )
        for opening, closing in zip(fences[::2], fences[1::2], strict=True)
    ]


def script_of(markdown: str) -> str:
    lines = [""] * len(markdown.splitlines())
    for block in filter(lambda block: block.runs, blocks_of(markdown)):
        if block.language == "python":
            lines[block.opening + 1 : block.closing] = block.text.splitlines()
        else:
            lines[block.opening] = SHELL.format(block.text)
        lines[block.closing] = f"print({MARK!r}, end='')"
    return "\n".join(lines) + "\n"


def run(markdown: str, name: str, folder: Path) -> str:
    script = folder / f"{Path(name).stem}.py"
    script.write_text(script_of(markdown), encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-u", str(script)],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONSAFEPATH": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{name} does not run as printed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def promised_outputs(markdown: str) -> list[tuple[int, str]]:
    """Which of the blocks that run is followed by its output, and that output."""
    found, ran = [], 0
    for block in blocks_of(markdown):
        if block.is_output:
            found.append((ran - 1, block.text))
        ran += block.runs
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_example_runs_as_printed_and_prints_what_it_promises(document: Path, tmp_path: Path) -> None:
    markdown = document.read_text(encoding="utf-8")
    printed = run(markdown, document.name, tmp_path).split(MARK)
    for index, expected in promised_outputs(markdown):
        assert printed[index].strip() == expected.strip()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_to_a_file(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_the_index_of_the_documentation_links_every_page(checkout: Path) -> None:
    index = (checkout / "docs" / "index.md").read_text(encoding="utf-8")
    pages = sorted(path.name for path in (checkout / "docs").glob("*.md") if path.name != "index.md")
    assert [page for page in pages if f"({page})" not in index] == []


def test_an_example_that_fails_is_reported_with_its_line_in_the_document(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r'broken.py", line 4'):
        run("# Title\n\n```python\n1 / 0\n```\n", "broken.md", tmp_path)


def test_blocks_of_one_document_share_their_names_and_keep_their_outputs_apart(tmp_path: Path) -> None:
    markdown = "```python\nx = 20\nprint(x)\n```\n```bash\npython -c 'print(21)'\n```\n```python\nprint(x + 2)\n```\n"
    assert run(markdown, "shared.md", tmp_path).split(MARK) == ["20\n", "21\n", "22\n", ""]


def test_a_command_is_left_out_only_with_a_reason() -> None:
    reasoned, bare = blocks_of(
        "<!-- not run: needs a GPU -->\n```bash\nagent-envs x\n```\n<!-- not run: -->\n```bash\nagent-envs x\n```"
    )
    assert (reasoned.runs, bare.runs) == (False, True)
