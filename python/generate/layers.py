"""The bindings of layers: classes with the constructors and the public members that their headers declare."""

from calls import Call, Unknown, arguments, literal, without_covered

# What members of these names are, wherever they are; shapes stand in the description of the class.
GLOSSARY = {
    "weight": "What the input is multiplied by, or None.",
    "bias": "What is added, or None.",
    "running_mean": "The mean that is used in evaluation.",
    "running_var": "The variance that is used in evaluation.",
    "num_batches_tracked": "How many batches the running numbers come from.",
    "in_proj_weight": "The weights of query, key and value, one below the other.",
    "in_proj_bias": "Their biases, or None.",
}


def constructor(layer, call):
    """What the layer is made with stays with it: copies and pickles are made with the same."""
    declared = ", ".join([f"{layer.name}* self"] + [one.declaration() for one in call.parameters])
    kept = ", ".join(f'{{"{one.python_name}", nb::cast({one.name})}}' for one in call.parameters if one.type != "Generator&")
    body = " ".join([*call.head, f"new (self) {layer.name}({', '.join(call.passed)});", f"keep_arguments(*self, {{{kept}}});"])
    documentation = call.documentation().strip()
    described = f",\n           {literal(documentation)}" if documentation else ""
    text = ""
    for other_names in [False, True] if call.has_other_names else [False]:
        text += f'      .def("__init__", []({declared}) {{ {body} }}{arguments(call.parameters, other_names)}{described})\n'
    return text


def members(layer):
    text = ""
    for name in layer.tensors:
        text += f'      .def_prop_ro("{name}", [](const {layer.name}& self) {{ return tensor_or_none(self.{name}); }},\n'
        text += f'                   {literal(GLOSSARY.get(name, ""))})\n'
    for kind, name in layer.children:
        text += f'      .def_prop_ro("{name}", [](const {layer.name}& self) {{ return self.{name}; }},\n'
        text += f'                   "The part of that name: {kind}.")\n'
    return text


def definition(layer, structs, report, bound):
    calls = []
    for parameters in layer.constructors:
        try:
            calls.append((None, Call(parameters, structs)))
        except Unknown as reason:
            report(f"{layer.name}(): {reason}")
    base = layer.base if layer.base in bound else "Module"
    bases = f"{layer.name}, {base}"
    calls = without_covered(calls)
    documentation = layer.comment + (calls[-1][1].documentation() if calls else "")
    text = f'  nb::class_<{bases}>(m, "{layer.name}", {literal(documentation)})\n'
    for _, call in calls:
        text += constructor(layer, call)
    text += members(layer)
    return text.rstrip("\n") + ";\n"


def definitions(headers, structs, report):
    """Pairs of a header's path and its definitions, bases before what derives from them."""
    layers = [layer for header in headers for layer in header.layers]
    names = {layer.name for layer in layers}
    modules = {"Module"}
    while True:  # those that derive from Module, by however many steps
        more = {layer.name for layer in layers if layer.base in modules} - modules
        if not more:
            break
        modules |= more
    found, bound = [], set()
    waiting = [layer for layer in layers if layer.name in modules]
    while waiting:
        ready = [layer for layer in waiting if layer.base == "Module" or layer.base in bound or layer.base not in names]
        for layer in ready:
            if any(kind.startswith("std::vector<std::pair") for one in layer.constructors for kind in [p.type for p in one]):
                report(f"{layer.name}: bound by hand")
            else:
                found.append((layer.header, definition(layer, structs, report, bound)))
            bound.add(layer.name)
            waiting.remove(layer)
    return found
