"""The bindings of ops: functions of the module, and methods of Tensor where a tensor called x or a comes first."""

from calls import Call, Unknown, arguments, literal, without_covered


def returned(kind, call, structs):
    """What the lambda does with the call's result."""
    if kind in ("Tensor", "std::vector<Tensor>", "double", "int64_t", "bool"):
        return f"return {call};"
    if kind == "void":
        return f"{call};"
    if kind in structs and all(field.type == "Tensor" for field in structs[kind].fields):
        members = ", ".join(f"result.{field.name}" for field in structs[kind].fields)
        return f"{kind} result = {call};\n        return std::make_tuple({members});"
    raise Unknown(kind)


def is_method(call):
    first = call.parameters[0] if call.parameters else None
    return bool(first) and first.type == "const Tensor&" and first.name in ("x", "a") and not first.default


def definition(function, call, structs, prefix):
    """The lines that define it, in the module and as a method."""
    name = function.name.removeprefix(prefix)
    inner = f"treadle::{function.name}({', '.join(call.passed)})"
    body = "\n        ".join(["nb::gil_scoped_release released;", *call.head, returned(function.result, inner, structs)])
    declared = ", ".join(one.declaration() for one in call.parameters)
    lambda_text = f"[]({declared}) {{\n        {body}\n      }}"
    documentation = literal(function.comment + call.documentation())

    targets = [("m", call.parameters)]
    if is_method(call) and not prefix:
        targets.append(("tensor", call.parameters[1:]))
    text = f"  {{\n    auto f = {lambda_text};\n"
    for other_names in [False, True] if call.has_other_names else [False]:
        for target, parameters in targets:
            text += f'    {target}.def("{name}", f{arguments(parameters, other_names)},\n      {documentation});\n'
    return text + "  }\n"


def is_for_python(function):
    """Ops that gradients are made of stay in C++."""
    return not function.name.endswith("_gradient") and "_gradient_" not in function.name


def definitions(headers, structs, report, prefix=""):
    """Pairs of a header's path and its definitions."""
    overloads = {}
    for header in headers:
        for function in header.functions:
            if not function.name.startswith(prefix) or not is_for_python(function):
                continue
            try:
                call = Call(function.parameters, structs)
                returned(function.result, "", structs)
            except Unknown as reason:
                report(f"{function.name}: {reason}")
                continue
            overloads.setdefault(function.name, []).append(((header.path, function), call))
    found = {}
    for calls in overloads.values():
        for (path, function), call in without_covered(calls):
            found.setdefault(path, []).append(definition(function, call, structs, prefix))
    return sorted((path, "".join(lines)) for path, lines in found.items())
