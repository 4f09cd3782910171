"""The fenced blocks of a document that are marked: commands to run, programs to compile, output to expect."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHELL = {"sh", "bash", "shell"}
CXX = {"cpp", "c++", "cuda"}
PYTHON = {"python", "py"}
MARK = re.compile(r"^\s*<!--\s*(run|compile|output)(?:, ends with (\d+))?\s*-->\s*$")
FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*([\w+]*)")
# Commands that would start this script again, or take an hour.
RECURSIVE = re.compile(r"scripts/(check|check-docs|fresh)(\s|$)|\.ci/run")


class DocumentError(Exception):
    """A block that failed or a comment that fits no block; args: message, exit code."""


@dataclasses.dataclass
class Block:
    document: str
    line: int  # of the first line inside the fence, from 1
    mark: str
    language: str
    text: str
    ends_with: int = 0
    output: str | None = None  # what must be seen of a block of commands

    def place(self):
        return f"{self.document}:{self.line}"


def fenced_text(lines, start, fence, indent):
    """The lines from `start` to the closing fence, without the fence's own indentation."""
    for end in range(start, len(lines)):
        if lines[end].strip() == fence:
            return "".join(line[indent:] if line[:indent].isspace() else line for line in lines[start:end])
    raise DocumentError("a fenced block is never closed", 2)


def marked_blocks(document):
    """The marked blocks of one document, in order; an `output` belongs to the commands before it."""
    name = document.relative_to(ROOT).as_posix()
    lines = document.read_text(encoding="utf-8").splitlines(keepends=True)
    blocks = []
    for index, line in enumerate(lines):
        if not (mark := MARK.match(line)):
            continue
        fence = FENCE.match(lines[index + 1]) if index + 1 < len(lines) else None
        if not fence:
            raise DocumentError(f"{name}:{index + 1}: '{line.strip()}' is not followed by a fenced block", 2)
        text = fenced_text(lines, index + 2, fence[2], len(fence[1]))
        if mark[1] == "output":
            if not blocks or blocks[-1].language not in SHELL or blocks[-1].output is not None:
                raise DocumentError(f"{name}:{index + 1}: there are no commands before whose output this could be", 2)
            blocks[-1].output = text
        else:
            blocks.append(Block(name, index + 3, mark[1], fence[3], text, int(mark[2] or 0)))
    return blocks


def refuse_misfits(blocks):
    for block in blocks:
        is_shell, is_cxx = block.language in SHELL, block.language in CXX
        if not (is_cxx or (block.mark == "run" and (is_shell or block.language in PYTHON))):
            raise DocumentError(f"{block.place()}: cannot {block.mark} a '{block.language}' block", 2)
        if is_shell and RECURSIVE.search(block.text):
            raise DocumentError(f"{block.place()}: scripts/check runs this block and the block runs it in turn", 2)


def refuse_commands_that_never_run(document):
    """For documents all of whose commands are run."""
    lines = document.read_text(encoding="utf-8").splitlines()
    inside = False
    for index, line in enumerate(lines):
        if not (fence := FENCE.match(line)):
            continue
        inside = not inside
        if inside and fence[3] in SHELL and not (index > 0 and MARK.match(lines[index - 1])):
            raise DocumentError(f"{document.relative_to(ROOT)}:{index + 1}: these commands are not marked to be run", 2)
