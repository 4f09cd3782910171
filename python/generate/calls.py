"""How a call from Python becomes a call of C++: the parameters of a binding, and what it passes on."""

import dataclasses

# Of each type: how the binding declares the parameter, and what the call gets.
DIRECT = ("{type} {name}", "{name}")
DIMS = ("const DimsArgument& {name}", "{name}.value")
KINDS = {
    "const Tensor&": ("const Tensor& {name}", "{name}"),
    "const Operand&": ("const OperandArgument& {name}", "{name}.operand()"),
    "const Scalar&": ("const ScalarArgument& {name}", "{name}.value"),
    "const std::vector<Tensor>&": ("const std::vector<Tensor>& {name}", "{name}"),
    "const std::string&": ("const std::string& {name}", "{name}"),
    "std::string": ("const std::string& {name}", "{name}"),
    "const std::vector<int64_t>&": ("const std::vector<int64_t>& {name}", "{name}"),
    "std::vector<int64_t>": ("const std::vector<int64_t>& {name}", "{name}"),
    "const Shape&": DIMS,
    "const Dims&": DIMS,
    "Pair": ("const PairArgument& {name}", "{name}.value"),
    "const Pads&": ("const PadsArgument& {name}", "{name}.value"),
    "Pads": ("const PadsArgument& {name}", "{name}.value"),
    "std::optional<double>": ("std::optional<double> {name}", "{name}"),
    "DType": DIRECT,
    "Device": DIRECT,
    "double": DIRECT,
    "int64_t": DIRECT,
    "uint64_t": DIRECT,
    "bool": DIRECT,
    "Generator&": ("Generator* {name}", "{name} ? *{name} : default_generator()"),
}
# What parameters of these names are, wherever they are; a comment of a header comes before.
GLOSSARY = {
    "in_channels": "channels of the input",
    "out_channels": "channels of the result",
    "in_features": "features of the input, its last axis",
    "out_features": "features of the result",
    "kernel_size": "extents of the window: height, width",
    "bias": "whether a bias is added",
    "affine": "whether the result is scaled and shifted by parameters",
    "eps": "added to the variance",
    "generator": "draws the numbers; None: the process's generator",
    "reduction": "what becomes of the terms: \"mean\", \"sum\" or \"none\"",
    "keep_axes": "whether reduced axes stay, with extent 1",
    "device": "where the elements lie: \"cpu\", \"simt\", \"cuda\"",
}
# What Python's users call what C++ calls otherwise.
PYTHON_NAMES = {"kernel": "kernel_size", "epsilon": "eps", "keep_axes": "keepdims", "keep_axis": "keepdims"}
# PyTorch's words for the same: accepted as keywords, in a signature of their own.
OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "probability": "p"}


class Unknown(Exception):
    """A declaration that has no place in Python."""


@dataclasses.dataclass
class Parameter:
    """One parameter of Python's function."""

    type: str
    name: str
    default: str
    comment: str = ""

    @property
    def reduced_axes(self):
        """Axes that a function may be told, of all that there are: None and one int will do."""
        return self.name == "axes" and self.type == "const Dims&" and self.default == "{}"

    @property
    def python_name(self):
        return "axis" if self.reduced_axes else PYTHON_NAMES.get(self.name, self.name)

    @property
    def other_name(self):
        return OTHER_NAMES.get(self.python_name)

    @property
    def optional_tensor(self):
        return self.type == "const Tensor&" and self.default == "{}"

    @property
    def is_required(self):
        return not self.default and self.type != "Generator&"

    def declaration(self):
        if self.optional_tensor:
            return f"const Tensor* {self.name}"
        return KINDS[self.type][0].format(type=self.type, name=self.name)

    def passed(self):
        if self.optional_tensor:
            return f"or_undefined({self.name})"
        return KINDS[self.type][1].format(name=self.name)

    def argument(self, name=""):
        text = f'nb::arg("{name or self.python_name}")'
        if self.optional_tensor or self.type == "Generator&":
            return f"{text}.none() = nb::none()"
        if not self.default:
            return text
        if self.reduced_axes:
            return f"{text}.none() = nb::none()"
        if self.type in ("const Shape&", "const Dims&"):
            return f"{text} = DimsArgument{{}}"
        if self.type == "Pair":
            return f"{text} = PairArgument{{{self.default}}}"
        if self.type in ("Pads", "const Pads&"):
            return f"{text} = PadsArgument{{{self.default}}}"
        if self.type == "std::optional<double>":
            return f"{text}.none() = std::optional<double>({self.default})"
        if self.type == "std::vector<int64_t>":
            return f"{text} = std::vector<int64_t>{self.default}"
        if self.type in ("int64_t", "uint64_t", "double"):
            return f"{text} = {self.type}({self.default})"
        return f"{text} = {self.default}"


def arguments(parameters, other_names=False):
    """What follows a binding's function: a declaration of each parameter."""
    return "".join(f", {one.argument(one.other_name if other_names else '')}" for one in parameters)


def known(kind):
    return kind in KINDS


class Call:
    """The parameters of a declaration, with structs of options taken apart: their members are parameters of Python's."""

    def __init__(self, declared, structs):
        self.parameters, self.passed, self.head = [], [], []
        for field in declared:
            struct = structs.get(field.type.removeprefix("const ").removesuffix("&"))
            if struct and not known(field.type):
                self.add_options(field, struct)
            elif known(field.type):
                one = Parameter(field.type, field.name, field.default)
                self.parameters.append(one)
                self.passed.append(one.passed())
            else:
                raise Unknown(f"{field.type} {field.name}")
        names = [one.name for one in self.parameters]
        if len(set(names)) != len(names):
            raise Unknown(f"two parameters of one name: {', '.join(names)}")
        self.order()

    def add_options(self, field, struct):
        """Members of types that Python has no value for keep their defaults."""
        variable = f"of_{field.name}"
        self.head.append(f"{struct.name} {variable};")
        for member in struct.fields:
            if not known(member.type):
                if not member.default:
                    raise Unknown(f"{member.type} {member.name} of {struct.name}")
                continue
            one = Parameter(member.type, member.name, member.default, member.comment)
            self.parameters.append(one)
            self.head.append(f"{variable}.{member.name} = {one.passed()};")
        self.passed.append(variable)

    def order(self):
        """Those without a default first, as Python wants it."""
        self.parameters.sort(key=lambda one: not one.is_required)

    def covers(self, other):
        """Whether whoever calls `other` can call this one in the same way."""
        names = [one.name for one in self.parameters]
        theirs = [one.name for one in other.parameters]
        return names[: len(theirs)] == theirs and all(not one.is_required for one in self.parameters[len(theirs) :])

    @property
    def has_other_names(self):
        return any(one.other_name for one in self.parameters)

    def documentation(self):
        """What comments say of the parameters."""
        said = [(one.python_name, one.comment or GLOSSARY.get(one.python_name)) for one in self.parameters]
        lines = [f"    {name}: {text}" for name, text in said if text]
        return "\n\nParameters:\n" + "\n".join(lines) if lines else ""


def without_covered(calls):
    """Overloads but those that another one serves, too. `calls`: (key, Call) pairs."""
    kept = []
    for index, (key, call) in enumerate(calls):
        others = [other for position, (_, other) in enumerate(calls) if position != index]
        same = [other for _, other in kept]
        if any(other.covers(call) and (not call.covers(other) or other in same) for other in others):
            continue
        kept.append((key, call))
    return kept


def literal(text):
    return f'R"doc({text})doc"'
