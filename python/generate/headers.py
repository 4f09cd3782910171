"""What the public headers declare: functions, structs of options and layers, with their comments.

The headers are written in one style, which clang-format holds: a declaration begins its line, its comment lies above it.
"""

import dataclasses
import pathlib
import re

PUBLIC = "#pragma once  // public"
GENERATED = "from which this file is generated"
COMMENT = r"((?:^///[^\n]*\n)*)"
ARGUMENTS_TEXT = r"((?:[^();{}]|\{\}|\([^()]*\))*)"
FUNCTION = re.compile(
    COMMENT + r"^TREADLE_API ([\w:<>]+(?:<[\w, ]+>)?) (\w+)\(" + ARGUMENTS_TEXT + r"\);", re.MULTILINE
)
STRUCT = re.compile(r"^struct (\w+)(?: : (\w+))? \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
LAYER = re.compile(
    COMMENT + r"^(?:class|struct) TREADLE_API (\w+)(?: final)? : (?:public )?(\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL
)
FIELD = re.compile(r"^  ([\w:]+(?:<[\w:]+>)?) (\w+(?:\s*=[^;,]*)?(?:, \w+(?:\s*=[^;,]*)?)*);\s*(?:///< ([^\n]*))?$", re.MULTILINE)
SUMMARY = re.compile(r'kName = "(\w+)",\s*\*kSummary =\s*((?:"[^"]*"\s*)+);')
DESCRIBED = re.compile(r'field\("(\w+)", &\w+::\w+,\s*((?:"[^"]*"\s*)+)\);')


@dataclasses.dataclass
class Field:
    """A member of a struct of options, or a parameter."""

    type: str
    name: str
    default: str = ""
    comment: str = ""


@dataclasses.dataclass
class Struct:
    name: str
    fields: list


@dataclasses.dataclass
class Function:
    comment: str
    result: str
    name: str
    parameters: list


@dataclasses.dataclass
class Layer:
    comment: str
    name: str
    base: str
    constructors: list  # of parameters
    tensors: list  # names of members
    children: list  # (type, name) of members that are modules
    header: pathlib.Path = None


@dataclasses.dataclass
class Header:
    path: pathlib.Path
    functions: list
    layers: list


def text_of(comment):
    """The sentences of a comment of C++, paragraphs kept."""
    lines = [re.sub(r"^///<? ?", "", line.strip()) for line in comment.strip().splitlines()]
    text = re.sub(r"(?<!\n)\n(?![\n ])", " ", "\n".join(lines)).strip()
    return re.sub(r"\bThrows\b", "Raises", text)


def split(text):
    """Splits at commas outside of brackets."""
    parts, depth = [""], 0
    for character in " ".join(text.split()):
        depth += (character in "(<{") - (character in ")>}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def parameter(text):
    declared, _, default = (part.strip() for part in text.partition("="))
    kind, _, name = declared.rpartition(" ")
    return Field(kind, name, default)


def parameters(text):
    return [parameter(part) for part in split(text)]


def fields_of(body):
    """The members of a struct. What is no member, such as describe(), has another form or deeper lines."""
    found = []
    described = {name: "".join(re.findall(r'"([^"]*)"', texts)) for name, texts in DESCRIBED.findall(body)}
    comment = ""
    for line in body.splitlines():
        if line.startswith("  ///"):
            comment += line.strip() + "\n"
            continue
        match = FIELD.match(line)
        if match:
            kind, names, behind = match.groups()
            for name in names.split(", "):
                field = parameter(f"{kind} {name}")
                field.comment = described.get(field.name) or text_of(comment) or (behind or "")
                found.append(field)
        comment = ""
    return found


def structs_in(texts):
    """By name, with the members of their bases first. Without those whose bases none of the texts declares."""
    declared = {name: (base, body) for text in texts for name, base, body in STRUCT.findall(text)}

    def is_whole(name):
        return name in declared and (not declared[name][0] or is_whole(declared[name][0]))

    def members(name):
        base, body = declared[name]
        return (members(base) if base else []) + fields_of(body)

    return {name: Struct(name, members(name)) for name in declared if is_whole(name)}


def constructors_of(name, body):
    """The parameters of each public constructor; one without any where none is declared."""
    public = re.split(r"^ (?:protected|private):", body, maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"^  (?:explicit )?" + name + r"\(" + ARGUMENTS_TEXT + r"\)", public, re.MULTILINE)
    declared = re.search(r"\b" + name + r"\(", body)
    return [parameters(text) for text in found] or ([] if declared else [[]])


def layers_in(text, header):
    found = []
    for comment, name, base, body in LAYER.findall(text):
        public = re.split(r"^ (?:protected|private):", body, maxsplit=1, flags=re.MULTILINE)[0]
        tensors, children = [], []
        for kind, names, _ in FIELD.findall(public):
            child = re.fullmatch(r"std::shared_ptr<(\w+)>", kind)
            if kind == "Tensor":
                tensors += names.split(", ")
            elif child:
                children += [(child.group(1), member) for member in names.split(", ")]
        found.append(Layer(text_of(comment), name, base, constructors_of(name, body), tensors, children, header))
    return found


def summaries_in(texts):
    """What pointwise functions are, by name."""
    return {name: "".join(re.findall(r'"([^"]*)"', lines)) for text in texts for name, lines in SUMMARY.findall(text)}


def functions_in(text, summaries):
    """A comment above several declarations is that of each, and what a pointwise function is comes before."""
    found, end, comment = [], -1, ""
    for match in FUNCTION.finditer(text):
        own, result, name, arguments = match.groups()
        summary = summaries.get(name, "")
        if own or match.start() != end + 1:
            comment = text_of(own)
        said = [summary + "." if summary else "", comment if own or not summary else ""]
        found.append(Function(" ".join(one for one in said if one), result, name, parameters(arguments)))
        end = match.end()
    return found


def read(paths):
    """The structs of all headers by name, and the public headers."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(paths)}
    summaries = summaries_in(texts.values())
    headers = [
        Header(path, functions_in(text, summaries), layers_in(text, path))
        for path, text in texts.items()
        if PUBLIC in text or GENERATED in text
    ]
    return structs_in(texts.values()), headers
