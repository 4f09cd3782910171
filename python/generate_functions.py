#!/usr/bin/env python3
"""Writes the bindings of ops from the public headers that declare them: `TREADLE_API Tensor name(…);` below its comment.

A header that is added brings its functions to Python, with their docstrings; nothing names them here.

usage: generate_functions.py --out FILE HEADER…
"""

import argparse
import pathlib
import re

PUBLIC = "#pragma once  // public"
FUNCTION = re.compile(r"((?:^///[^\n]*\n)*)^TREADLE_API ([\w:<>]+(?:<[\w, ]+>)?) (\w+)\(((?:[^();]|\([^()]*\))*)\);", re.MULTILINE)
STRUCT = re.compile(r"^struct (\w+) \{\n((?:\s+(?:///[^\n]*|Tensor [^;]+;[^\n]*)\n)+)\};", re.MULTILINE)
# What an argument of C++ becomes: the parameter of the binding, and how the call gets it.
ARGUMENTS = {
    "const Tensor&": ("const Tensor& {0}", "{0}"),
    "const Operand&": ("const OperandArgument& {0}", "{0}.operand()"),
    "const Scalar&": ("const ScalarArgument& {0}", "{0}.value"),
    "const std::vector<Tensor>&": ("const std::vector<Tensor>& {0}", "{0}"),
    "const std::string&": ("const std::string& {0}", "{0}"),
    "const Shape&": ("const DimsArgument& {0}", "{0}.value"),
    "const Dims&": ("const DimsArgument& {0}", "{0}.value"),
    "Pair": ("const DimsArgument& {0}", "{0}.pair()"),
    "DType": ("DType {0}", "{0}"),
    "Device": ("Device {0}", "{0}"),
    "double": ("double {0}", "{0}"),
    "int64_t": ("int64_t {0}", "{0}"),
    "bool": ("bool {0}", "{0}"),
    "Generator&": ("Generator* {0}", "{0} ? *{0} : default_generator()"),
}
DEFAULTS = {"kCpu": "kCpu", "{}": None, "default_generator()": None}


class Unknown(Exception):
    """A declaration that has no place in Python."""


class Parameter:
    """One parameter of a declaration."""

    def __init__(self, text):
        declared, _, default = (part.strip() for part in text.partition("="))
        self.type, _, self.name = declared.rpartition(" ")
        self.default = default
        self.options = re.fullmatch(r"const (\w+Options)&", self.type)
        self.optional = self.type == "const Tensor&" and default == "{}"
        if not self.options and self.type not in ARGUMENTS:
            raise Unknown(f"{self.type} {self.name}")

    def declaration(self):
        if self.options:
            return "const nb::kwargs& options"
        if self.optional:
            return f"const Tensor* {self.name}"
        return ARGUMENTS[self.type][0].format(self.name)

    def passed(self):
        if self.options:
            return "of_options"
        if self.optional:
            return f"or_undefined({self.name})"
        return ARGUMENTS[self.type][1].format(self.name)

    def argument(self):
        if self.options:
            return 'nb::arg("options")'
        text = f'nb::arg("{self.name}")'
        if self.optional or self.type == "Generator&":
            return f"{text}.none() = nb::none()"
        if not self.default:
            return text
        if self.type in ("const Shape&", "const Dims&"):
            return f"{text} = DimsArgument{{}}"
        return f"{text} = {self.default}"


def parameters_of(text):
    """Splits at commas outside of brackets."""
    parts, depth = [""], 0
    for character in " ".join(text.split()):
        depth += (character in "(<{") - (character in ")>}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [Parameter(part.strip()) for part in parts if part.strip()]


def returned(kind, structs):
    """What the lambda does with the call's result."""
    if kind in ("Tensor", "std::vector<Tensor>"):
        return "return {0};"
    if kind == "void":
        return "{0};"
    if kind in structs:
        members = ", ".join(f"result.{name}" for name in structs[kind])
        return f"{kind} result = {{0}};\n        return std::make_tuple({members});"
    raise Unknown(kind)


def documentation(comment):
    lines = [line[3:].strip() for line in comment.splitlines()]
    return " ".join(lines)


def binding(comment, kind, name, text, structs):
    """The lines that define one function."""
    parameters = parameters_of(text)
    options = [parameter for parameter in parameters if parameter.options]
    if len(options) > 1:
        raise Unknown("two structs of options")
    ordered = [parameter for parameter in parameters if not parameter.options] + options
    declared = ", ".join(parameter.declaration() for parameter in ordered)
    call = f"treadle::{name}({', '.join(parameter.passed() for parameter in parameters)})"
    arguments = "".join(f", {parameter.argument()}" for parameter in ordered)
    head, doc = "", f'R"({documentation(comment)})"'
    if options:
        struct = options[0].options[1]
        head = f"        const {struct} of_options = options_from<{struct}>(options);\n"
        doc = f"with_options<{struct}>({doc}).c_str()"
    body = returned(kind, structs).format(call)
    return (
        f'  m.def("{name}", []({declared}) {{\n{head}        nb::gil_scoped_release released;\n        {body}\n'
        f"      }}{arguments},\n      {doc});\n"
    )


def names(members):
    """The tensors that a struct declares."""
    found = []
    for line in members.splitlines():
        line = line.split("//")[0].strip()
        if line.startswith("Tensor "):
            found += [name.strip() for name in line[len("Tensor ") :].rstrip(";").split(",")]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--root", type=pathlib.Path, action="append", default=[], help="what includes are relative to")
    parser.add_argument("headers", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    includes, lines = [], []
    for header in sorted(arguments.headers):
        text = header.read_text(encoding="utf-8")
        if PUBLIC not in text and "from which this file is generated" not in text:
            continue
        root = next(root for root in arguments.root if header.is_relative_to(root))
        structs = {name: names(members) for name, members in STRUCT.findall(text)}
        found = []
        for comment, kind, name, parameters in FUNCTION.findall(text):
            try:
                found.append(binding(comment, kind, name, parameters, structs))
            except Unknown:
                continue
        if found:
            includes.append(f'#include "{header.relative_to(root)}"\n')
            lines += found
    arguments.out.write_text(
        "// Generated from the public headers of ops.\n"
        '#include "python/bindings/arguments.h"\n'
        '#include "python/bindings/rooms.h"\n' + "".join(includes) + "\nnamespace treadle::python {\n\n"
        "void bind_functions(nb::module_& m) {\n" + "".join(lines) + "}\n\n}  // namespace treadle::python\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
