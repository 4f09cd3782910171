#!/usr/bin/env python3
"""Checks that work is spread over threads by what it costs.

How much work is worth a thread is said once, in core/parallel_for.h. Everywhere else in the library the second argument of
parallel_for, for_each_row and parts_worth is what an item takes, in nanoseconds, or the number 1 where each item is to
have a thread of its own: no quotient, no number of elements.

usage: check_threads.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

CHECKED = ["treadle"]
HOME = "treadle/core/"
CALL = re.compile(r"\b(?:parallel_for|for_each_row|parts_worth)(?:<[^>]*>)?\(")
COUNT = re.compile(r"[/?]|std::max|\d{2}|\b[kg]\w*[gG]rain\w*|\bgrain\b")
CONSTANT = re.compile(r"\bk\w*(?:Grain|WorthAThread)\b")


def second_argument(text):
    """Of a call whose arguments begin `text`."""
    depth, arguments = 0, [""]
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or len(arguments) > 2:
            break
        if letter == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += letter
    return arguments[1].strip() if len(arguments) > 1 else ""


def is_count(argument):
    return COUNT.search(re.sub(r"[({].*[)}]", "", argument)) is not None


def violations(root):
    lines, files = [], 0
    for path in rule.source_files(root, CHECKED):
        if path.startswith(HOME):
            continue
        text, files = rule.text_of(root / path), files + 1
        found = [match.start() for match in CONSTANT.finditer(text)]
        found += [match.start() for match in CALL.finditer(text) if is_count(second_argument(text[match.end():]))]
        lines += [f"{path}:{text.count(chr(10), 0, at) + 1}: says how much is worth a thread; say what an item takes, "
                  "as Nanoseconds" for at in sorted(found)]
    return lines, f"{files} files"


SELF_TEST = {
    "treadle/ops/fill/a.cpp": ("parallel_for(count, kGrain, f);", True),
    "treadle/ops/fill/b.cpp": ("parallel_for(a * b, kProducts / (work + 1) + 1, [&](int64_t i) { f(i); });", True),
    "treadle/ops/fill/c.cpp": ("parallel_for(rows(x, y), std::max<int64_t>(1, many), run);", True),
    "treadle/ops/fill/d.cpp": ("for_each_row(nest, 16384, f);", True),
    "treadle/data/e.cpp": ("constexpr int64_t kImagesWorthAThread = 100;", True),
    "treadle/data/f.cpp": ("parallel_for(blocks, 1, f);", False),
    "treadle/data/g.cpp": ("parallel_for(blocks, Nanoseconds{0.25 * double(size) / 16}, f);", False),
    "treadle/data/h.cpp": ("for_each_row(nest, kElement, [&](const auto& o) { y[o / 2] = 0; });", False),
    "treadle/ops/reduce/j.cpp": ("parallel_for(items * splits, sums(per_item / splits), f);", False),
    "treadle/ops/conv2d/i.cpp": ("parts_worth(products, 50'000)", True),
    "treadle/core/parallel_for.h": ("parallel_for(count, kGrain, f);", False),
}


def self_test():
    return rule.judge(SELF_TEST, violations)


if __name__ == "__main__":
    sys.exit(rule.run("threads", "Checks that work is spread over threads by what it costs.", violations, self_test))
