"""Folders of JSON files that are written by hand but for what a script records in them."""

import json
import sys
from pathlib import Path

import torch

WIDTH = 120


def holds_objects(value):
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(isinstance(child, dict) or holds_objects(child) for child in children)


def to_text(value, indent=""):
    """JSON, one line for each value that is short or holds no objects."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= WIDTH or not holds_objects(value):
        return line
    deeper = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + to_text(child, deeper) for child in value) + "\n" + indent + "]"
    lines = [f"{deeper}{json.dumps(key)}: {to_text(child, deeper)}" for key, child in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def rewrite(folder, complete):
    """Replaces each file NAME.json of a folder that the command line names, or all, by complete(NAME, contents)."""
    paths = {path.stem: path for path in sorted(Path(__file__).with_name(folder).glob("*.json"))}
    names = sys.argv[1:] or list(paths)
    if unknown := [name for name in names if name not in paths]:
        sys.exit(f"{folder}/ has no {', '.join(unknown)}; there are {', '.join(paths)}")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name in names:
        contents = complete(name, json.loads(paths[name].read_text(encoding="utf-8")))
        paths[name].write_text(to_text(contents) + "\n", encoding="utf-8")
