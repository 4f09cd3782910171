"""compile(): functions that are recorded once and replayed."""

from __future__ import annotations

import functools

from treadle._core import CompiledFunction, Tensor

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, overload
else:

    def overload(function):
        """What only type checkers need."""
        return function


class Compiled(CompiledFunction):
    """What compile() returns: called as the function itself."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)  # the object is a constant


@overload
def compile(
    function: Callable[..., Any],
    /,
    *,
    measure: bool = True,
    fuse: bool = True,
    graph: str = "automatic",
    batch_buckets: Sequence[int] = (),
    most_programs: int = 64,
) -> Compiled: ...
@overload
def compile(
    *,
    measure: bool = True,
    fuse: bool = True,
    graph: str = "automatic",
    batch_buckets: Sequence[int] = (),
    most_programs: int = 64,
) -> Callable[[Callable[..., Any]], Compiled]: ...
def compile(
    function: Any = None,
    /,
    *,
    measure: bool = True,
    fuse: bool = True,
    graph: str = "automatic",
    batch_buckets: Sequence[int] = (),
    most_programs: int = 64,
) -> Any:
    """The compiled form of a function of tensors, or of a module; also a decorator.

        @td.compile
        def step(x, labels):
            optimizer.zero_grad()
            loss = td.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
            return loss

    The function runs while it is recorded: on the first call with tensors of a new kind (shapes, dtypes, device), perhaps
    more than once, and on calls 2, 4, 16, 64 and so on. Other calls replay what was recorded and run no Python. What it
    returns are tensors, or tuples, lists and dicts of them. Arguments that are no tensors are constants: each combination has
    programs of its own. Tensors from outside are read and updated in place.

    Parameters:
        measure: choose variants of ops by measurement, kept in a file; else in declared order
        fuse: put fused steps in place of chains of ops
        graph: whether replays launch a graph captured on the device: "automatic", "never", "always"
        batch_buckets: for functions of a batch: rising numbers of rows, to which the first axis is filled up
        most_programs: programs kept

    Raises RecordingError where the function reads a value, or was recorded otherwise before: a number, a branch or a tensor
    from outside that changed between calls.
    """
    options = dict(measure=measure, fuse=fuse, graph=graph, batch_buckets=list(batch_buckets), most_programs=most_programs)
    if function is None:
        return functools.partial(compile, **options)
    if not callable(function):
        raise TypeError(f"compile: a {type(function).__name__} cannot be called")
    compiled = Compiled(function, **options)
    compiled._options = options
    for attribute in ("__name__", "__qualname__", "__module__", "__doc__", "__wrapped__"):
        value = function if attribute == "__wrapped__" else getattr(function, attribute, None)
        if value is not None:
            setattr(compiled, attribute, value)
    return compiled


def call_with_constants(compiled, arguments, options):
    """Calls the function of the constants among the arguments with the tensors among them."""
    places = tuple(None if isinstance(one, Tensor) else (one,) for one in arguments)
    names = tuple(sorted((name, None if isinstance(one, Tensor) else (one,)) for name, one in options.items()))
    tensors = [one for one in arguments if isinstance(one, Tensor)]
    tensors += [options[name] for name, constant in names if constant is None]
    return _function_of(compiled, places, names)(*tensors)


def _function_of(compiled, places, names):
    """The compiled function of the tensors alone. Constants that are no keys of a dict count by identity."""
    kept = compiled.__dict__.setdefault("_of_constants", {})
    key = tuple(_key(place) for place in places), tuple((name, _key(constant)) for name, constant in names)
    if key not in kept:
        function = compiled.function

        def with_constants(*tensors):
            rest = iter(tensors)
            positional = [next(rest) if place is None else place[0] for place in places]
            named = {name: next(rest) if constant is None else constant[0] for name, constant in names}
            return function(*positional, **named)

        kept[key] = CompiledFunction(with_constants, **compiled._options)
    return kept[key]


def _key(constant):
    if constant is None:
        return None
    try:
        hash(constant[0])
    except TypeError:
        raise TypeError(
            f"a compiled function takes tensors and constants that can be told apart: no {type(constant[0]).__name__}"
        ) from None
    return type(constant[0]), constant[0]
