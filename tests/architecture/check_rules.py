#!/usr/bin/env python3
"""Checks that a rule of optimizers is a closed room: treadle/optim/NAME, which nothing else in the library names.

A kind of schedule is one as well, and a kind of augmentation: its header in treadle/optim/schedules or treadle/data/augment, of
which the build makes the list. Outside of its folder the library and the program include none of a rule's headers, and no header of
a schedule or an augmentation; compile/, train/ and what lies in optim/
itself have no string that is one of its presets, and nothing outside has one that is the name of its op. Users may, as tests,
benches and the recipes of models are. Device files include a rule's header, so it includes optim/rule.h alone.

usage: check_rules.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

HOME = "treadle/optim/"
SCHEDULES = HOME + "schedules/"
# Folders of which each header is a room.
ROOMS = (SCHEDULES, "treadle/data/augment/")
CHECKED = ["treadle", "cli"]
# Users' names of rules are options of the program and may be any word elsewhere.
PRESET_FREE = (HOME, "treadle/compile/", "treadle/train/")
PRESETS = re.compile(r"\.presets = \{(.*?)\.examples", re.DOTALL)
GROUPED = re.compile(r'declare_grouped_rule<\w+>\("(\w+)"')
PRESET = re.compile(r'\{"(\w+)"')
OP = re.compile(r"kName =(.*?);", re.DOTALL)
NAME = re.compile(r'"(\w+)"')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
INCLUDE = re.compile(r'#include "(treadle/[^"]+)"')


def room_of(path):
    """`adam` for treadle/optim/adam/adam.h, "" for what lies elsewhere."""
    if path.startswith(ROOMS):
        return path.removeprefix("treadle/")
    return path[len(HOME):].split("/")[0] if path.startswith(HOME) and path.count("/") > 2 else ""


def names_of(root):
    """Preset → room and op → room."""
    presets, ops = {}, {}
    for path in filter(room_of, rule.source_files(root, [HOME])):
        text = rule.text_of(root / path)
        presets |= {name: room_of(path) for block in PRESETS.findall(text) for name in PRESET.findall(block)}
        presets |= {name: room_of(path) for name in GROUPED.findall(text)}
        for name in (name for names in OP.findall(text) for name in NAME.findall(names)):
            ops |= {one: room_of(path) for one in (name, f"{name}_all", f"linear_{name}")}
    return presets, ops


def check_line(path, line, presets, ops):
    """What is wrong with a line of a file, or None."""
    if include := INCLUDE.search(line):
        target = room_of(include[1])
        if target and target != room_of(path):
            return f"{include[1]} is known to its folder alone; ask known_rules(), known_schedules() or known_augmentations()"
        if room_of(path) and not path.startswith(ROOMS) and path.endswith(".h") and not target and include[1] != f"{HOME}rule.h":
            return f"{include[1]}: device files include this header; it takes {HOME}rule.h alone"
        return None
    for word in STRING.findall(line):
        if path.startswith(PRESET_FREE) and not room_of(path) and word in presets:
            return f'"{word}" is a preset of optim/{presets[word]}'
        if ops.get(word, room_of(path)) != room_of(path):
            return f'"{word}" is an op of optim/{ops[word]}'
    return None


def violations(root):
    presets, ops = names_of(root)
    lines = []
    for path in rule.source_files(root, CHECKED):
        for number, line in enumerate(rule.text_of(root / path).splitlines(), start=1):
            if not line.lstrip().startswith("//") and (message := check_line(path, line, presets, ops)):
                lines.append(f"{path}:{number}: {message}")
    return lines, f"{len(presets)} presets, {len(ops)} ops"


SELF_TEST = {
    "treadle/optim/lion/lion.h": ('#include "treadle/optim/rule.h"\n  static constexpr const char* kName = "lion_update";', 0),
    "treadle/optim/lion/lion.cpp": ('#include "treadle/optim/lion/lion.h"\n.presets = {{"lion"}, {"big", {}}}, .examples', 0),
    "treadle/optim/yogi/yogi.h": ('#include "treadle/core/tensor.h"', 1),
    "treadle/optim/yogi/yogi.cpp": ('#include "treadle/optim/lion/lion.h"', 1),
    "treadle/optim/shampoo/shampoo.cpp": ('declare_grouped_rule<ShampooOptions>("shampoo", groups);', 0),
    "treadle/optim/clip.cpp": ('if (name == "shampoo") return;', 1),
    "treadle/optim/optimizer.cpp": ('if (name == "big") return;', 1),
    "treadle/train/fit.cpp": ('make_optimizer("lion")', 1),
    "treadle/models/mlp.cpp": ('recipe.optimizer = "lion";', 0),
    "treadle/optim/adan/adan.cpp": ('kept["big"] = 0;', 0),
    "treadle/train/step.cpp": ('// as "lion" does', 0),
    "treadle/ops/norm/norm.h": ('field("big", &Options::big);', 0),
    "treadle/ops/matrix/fusions.cpp": ('op_named("linear_lion_update")', 1),
    "cli/train.cpp": ('#include "treadle/optim/lion/lion.h"', 1),
    "treadle/optim/schedules/stairs.h": ('#include "treadle/optim/schedule_kind.h"', 0),
    "treadle/optim/schedules/slope.h": ('#include "treadle/optim/schedules/stairs.h"', 1),
    "treadle/data/augment/fog.h": ('#include "treadle/data/augmentation_kind.h"', 0),
    "treadle/data/augment/rain.h": ('#include "treadle/data/augment/fog.h"', 1),
    "treadle/data/loader.cpp": ('#include "treadle/data/augment/fog.h"', 1),
    "cli/schedules.cpp": ('#include "treadle/optim/schedules/stairs.h"', 1),
    "cli/options.cpp": ('o.optimizer = "lion";', 0),
    "cli/bench.cpp": ('op_named("lion_update_all")', 1),
    "tests/optim/lion_test.cpp": ('#include "treadle/optim/lion/lion.h"', 0),
}


def self_test():
    with rule.tree_of({name: text + "\n" for name, (text, _) in SELF_TEST.items()}) as root:
        found = [line.split(":")[0] for line in violations(root)[0]]
    wrong = [f"self-test: '{text}' was judged wrongly" for name, (text, count) in SELF_TEST.items()
             if found.count(name) != count]
    return wrong, len(SELF_TEST)


if __name__ == "__main__":
    sys.exit(rule.run("rules", "Checks that rules of optimizers are closed rooms.", violations, self_test))
