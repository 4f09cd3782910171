"""Functions with a gradient of their own: eager, differentiated twice, compiled, and gone when nobody has them."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import treadle as td
from treadle.autograd import Function, gradcheck, once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x * x * 3


class Exp(Function):
    """Saves its result."""

    @staticmethod
    def forward(ctx, x):
        y = td.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Scaled(Function):
    """a·b·factor and a − b, of which either may stay unused."""

    @staticmethod
    def forward(ctx, a, factor, b, sign=None):
        ctx.save_for_backward(a, None, b)
        ctx.factor = factor
        return a * b * factor, "text", a - b

    @staticmethod
    def backward(ctx, product, nothing, difference):
        a, missing, b = ctx.saved_tensors
        assert nothing is None and missing is None
        Scaled.needs = ctx.needs_input_grad
        return product * b * ctx.factor + difference, None, product * a * ctx.factor - difference, None


def leaf(values, dtype=td.float64):
    return td.tensor(values, dtype=dtype, requires_grad=True)


def test_gradients_are_those_of_backward():
    x = leaf([1.0, -2.0])
    y = Cube.apply(x)
    assert y.requires_grad and y.tolist() == [1.0, -8.0]
    (y * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0]


def test_gradients_of_gradients():
    x = leaf([0.5, 1.5])
    for function, value, slope in (
        (Cube, lambda x: 6 * x, lambda x: 6 + 0 * x),
        (Exp, np.exp, np.exp),
    ):
        (first,) = td.grad(function.apply(x).sum(), x, create_graph=True)
        (second,) = td.grad(first.sum(), x, create_graph=True)
        np.testing.assert_allclose(second.detach().numpy(), value(x.detach().numpy()), rtol=1e-12)
        (third,) = td.grad(second.sum(), x)
        np.testing.assert_allclose(third.numpy(), slope(x.detach().numpy()), rtol=1e-12)


def test_a_gradient_that_has_none_says_so():
    class Sine(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return td.from_numpy(np.sin(x.detach().numpy()))

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert not td.is_grad_enabled()
            return td.from_numpy(grad.numpy() * np.cos(x.detach().numpy()))

    x = leaf([0.5, 2.0])
    assert gradcheck(Sine.apply, x)
    (first,) = td.grad(Sine.apply(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(first.detach().numpy(), np.cos([0.5, 2.0]), rtol=1e-15)
    with pytest.raises(td.AutogradError, match="Sine is differentiable once"):
        td.grad(first.sum(), x)
    Sine.apply(x).sum().backward()
    assert x.grad.tolist() == first.tolist()


def test_gradcheck_sees_right_and_wrong_gradients():
    class Wrong(Cube):
        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] * 3

    x = leaf([[0.5, 1.5], [-1.0, 2.0]])
    assert gradcheck(Cube.apply, x) and gradcheck(lambda a, b: Scaled.apply(a, 3, b), [x, leaf([2.0, 1.0])[None] + 0 * x])
    with pytest.raises(td.AutogradError, match="element 0 of input 0 is 1.5, the slope 0.75"):
        gradcheck(Wrong.apply, x)

    class Spread(Function):
        """Right for results that count equally."""

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad.mean() + 0 * grad

    with pytest.raises(td.AutogradError, match="element 0"):
        gradcheck(Spread.apply, x)
    with pytest.raises(td.DTypeError, match="float32"):
        gradcheck(Cube.apply, leaf([1.0], td.float32))


def test_several_results_and_arguments_of_all_kinds():
    a, b = leaf([2.0]), leaf([5.0])
    product, text, difference = Scaled.apply(a, 10, b)
    assert (product.item(), text, difference.item()) == (100, "text", -3)
    product.backward(retain_graph=True)
    assert (a.grad.item(), b.grad.item()) == (50, 20)
    (difference * 7).backward()
    assert (a.grad.item(), b.grad.item()) == (57, 13)
    Scaled.apply(a.detach(), 1, b)[0].backward()
    assert Scaled.needs == (False, False, True)
    td.grad(Scaled.apply(a, 1, b)[0], a)
    assert Scaled.needs == (True, False, False)


def test_unused_results_may_be_none():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            assert first is None
            return second * 2

    x = leaf([1.0])
    Two.apply(x)[1].backward()
    assert x.grad.item() == 2


def test_results_without_gradient():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            values, kept = x * 1, x * 0
            ctx.mark_non_differentiable(kept)
            return values, kept, td.argmax(x, 0)

        @staticmethod
        def backward(ctx, values, kept, places):
            assert kept.tolist() == [0.0, 0.0] and places is None
            return values

    x = leaf([1.0, 3.0])
    values, kept, place = Sorted.apply(x)
    assert values.requires_grad and not kept.requires_grad and not place.requires_grad and place.item() == 1
    values.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_an_argument_may_be_a_result():
    class Reversed(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return -grad

    x = leaf([3.0])
    y = Reversed.apply(x)
    assert not y.same_as(x) and not x.grad
    (y * x).backward()
    assert x.grad.item() == 0  # −x + y


def test_setup_context_stands_apart():
    class Square(Function):
        @staticmethod
        def forward(x, power):
            return x**power

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.power = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.power * ctx.saved_tensors[0] ** (ctx.power - 1), None

    x = leaf([3.0])
    Square.apply(x, 2).backward()
    assert x.grad.item() == 6


def test_forward_is_computed_by_whatever_means():
    class Rounded(Function):
        @staticmethod
        def forward(ctx, x):
            assert not td.is_grad_enabled()
            return td.from_numpy(np.round(x.detach().numpy()))

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = leaf([1.4, 2.6])
    y = Rounded.apply(x)
    y.sum().backward()
    assert y.tolist() == [1.0, 3.0] and x.grad.tolist() == [1.0, 1.0]
    assert not Rounded.apply(x.detach()).requires_grad
    with td.no_grad():
        assert not Rounded.apply(x).requires_grad


def test_on_a_device():
    x = td.tensor([1.0, 2.0], device="simt", requires_grad=True)
    Scaled.apply(x, 2, x)[0].sum().backward()
    assert x.grad.device == "simt" and x.grad.tolist() == [4.0, 8.0]


def steps_of(function):
    return str(function.programs()[0])


def test_compiled_functions_hold_its_ops():
    weight = leaf([1.0, -2.0, 0.5], td.float32)

    def step(x):
        weight.grad = None
        loss = (Exp.apply(Cube.apply(weight)) * x).sum()
        loss.backward()
        return loss

    x = td.tensor([0.5, 1.0, 2.0])
    expected = step(x).item(), weight.grad.tolist()
    compiled = td.compile(step)
    for _ in range(6):
        assert compiled(x).item() == pytest.approx(expected[0], rel=1e-6)
        np.testing.assert_allclose(weight.grad.tolist(), expected[1], rtol=1e-6)
    with td.no_grad():
        weight.copy_(td.tensor([0.0, 1.0, 1.0]))
    assert compiled(x).item() == pytest.approx(0.5 + 3 * np.e, rel=1e-6)
    np.testing.assert_allclose(weight.grad.tolist(), [0, 3 * np.e, 6 * np.e], rtol=1e-6)
    assert "Cube" not in steps_of(compiled)  # connecting is no work


def test_compiled_functions_with_fused_layers_around_it():
    """Whose gradients are recorded a second time."""
    layers = [td.nn.Conv2d(1, 4, kernel_size=3), td.nn.Linear(4 * 3 * 3, 3)]

    def step(x, labels):
        for parameter in layers[0].parameters() + layers[1].parameters():
            parameter.grad = None
        y = layers[0](x).max_pool2d(2).relu()
        loss = td.cross_entropy(layers[1](Cube.apply(y).flatten(1)), labels)
        loss.backward()
        return loss

    x = td.tensor(np.random.default_rng(0).random((5, 1, 8, 8), np.float32))
    labels = td.tensor([0, 1, 2, 0, 1])
    expected = step(x, labels).item(), layers[0].weight.grad.tolist()
    compiled = td.compile(step)
    for _ in range(3):
        assert compiled(x, labels).item() == pytest.approx(expected[0], rel=1e-5)
        # Sums of 5·36 products, which fused ops add in another order.
        np.testing.assert_allclose(layers[0].weight.grad.tolist(), expected[1], rtol=1e-4, atol=1e-6)
    assert "conv2d_max_pool2d" in steps_of(compiled)


def test_compiled_functions_say_what_they_cannot_record():
    class OfNumPy(Cube):
        @staticmethod
        def forward(ctx, x):
            return td.from_numpy(x.numpy() ** 3)

    with pytest.raises(td.RecordingError, match="an input"):
        td.compile(lambda x: OfNumPy.apply(x))(td.tensor([1.0]))


def test_a_number_that_changes_between_recordings_is_noticed():
    factors = iter([2, 2, 3, 3, 3, 3])

    def step(x):
        return Scaled.apply(x, next(factors), x)[0]

    compiled = td.compile(step)
    compiled(td.tensor([1.0]))
    with pytest.raises(td.RecordingError):
        for _ in range(4):
            compiled(td.tensor([1.0]))


@pytest.mark.parametrize("place", ["forward", "backward"])
def test_exceptions_reach_the_caller(place):
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            if place == "forward":
                raise KeyError("lost")
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("lost")

    x = leaf([1.0])
    with pytest.raises(KeyError, match="lost"):
        Fails.apply(x).backward()
    with pytest.raises(KeyError, match="lost"):
        td.compile(lambda: Fails.apply(x).backward())()
    assert x.grad is None


def returning(*gradients):
    class Returns(Function):
        @staticmethod
        def forward(ctx, x, number):
            return x * number

        @staticmethod
        def backward(ctx, grad):
            return gradients if len(gradients) > 1 else gradients[0]

    return Returns


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        ([td.tensor([1.0])], r"returned 1 gradients, forward\(\) takes 2 arguments"),
        ([None, None, td.tensor([1.0])], "returned 3 gradients"),
        ([td.tensor([1.0]), 2.0], "gradient 1 is a float, not None"),
        ([1.0, None], "gradient 0 is a float, not a tensor or None"),
        ([td.tensor([1.0, 2.0]), None], r"gradient of input 0 has shape \[2\], the input \[1\]"),
        ([td.tensor([1.0], dtype="float64"), None], "gradient of input 0 is f64, the input f32"),
    ],
)
def test_gradients_that_do_not_fit_are_refused(gradients, message):
    x = leaf([1.0], td.float32)
    with pytest.raises(td.AutogradError, match=message):
        returning(*gradients).apply(x, 2).backward()


def test_gradients_beyond_the_arguments_may_be_none():
    x = leaf([1.0], td.float32)
    returning(td.tensor([4.0]), None, None, None).apply(x, 2).backward()
    assert x.grad.item() == 4


def test_misuse_is_named():
    x = leaf([1.0])
    y = Cube.apply(x)
    y.backward()
    with pytest.raises(td.AutogradError, match="Cube a second time"):
        y.backward()
    y = Cube.apply(x)
    with td.no_grad():
        x.copy_(td.tensor([2.0], dtype=td.float64))
    with pytest.raises(td.AutogradError, match="Cube: a tensor saved for its gradient was modified"):
        y.backward()
    with pytest.raises(NotImplementedError):
        Function.apply(x)

    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            return None

    class Asks(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.saved_tensors

    with pytest.raises(TypeError, match="returned a NoneType"):
        Nothing.apply(x)
    with pytest.raises(td.AutogradError, match="in backward"):
        Asks.apply(x)


def test_contexts_and_tensors_are_freed():
    contexts = []

    class Watched(Function):
        @staticmethod
        def forward(ctx, x):
            y = td.exp(x)
            ctx.save_for_backward(x, y, x * 2)
            contexts.append(weakref.ref(ctx))
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[1]

    array = np.ones(3)
    x = td.from_numpy(array)
    gone = weakref.ref(array)
    del array
    x.requires_grad = True
    y = Watched.apply(x)
    assert contexts[0]() is not None
    y.sum().backward()
    del y
    y = Watched.apply(x)  # never differentiated
    (first,) = td.grad(Watched.apply(x).sum(), x, create_graph=True)
    compiled = td.compile(lambda: Watched.apply(x).sum())
    compiled()
    del y, first, x, compiled
    gc.collect()
    assert len(contexts) >= 4 and all(one() is None for one in contexts)
    assert gone() is None


def test_memory_goes_as_soon_as_it_can():
    """What was saved with backward(), a result with its last name, though others keep the context."""

    class Keeps(Cube):
        @staticmethod
        def forward(ctx, x):
            saved, fixed = np.ones(2), np.ones(2)
            Keeps.gone = weakref.ref(saved), weakref.ref(fixed)
            result = td.from_numpy(fixed)
            ctx.save_for_backward(td.from_numpy(saved))
            ctx.mark_non_differentiable(result)
            return x * 1, result

        @staticmethod
        def backward(ctx, grad, fixed):
            return grad

    x = leaf([1.0, 2.0])
    y, fixed = Keeps.apply(x)
    saved_gone, fixed_gone = Keeps.gone
    del fixed
    gc.collect()
    assert saved_gone() is not None and fixed_gone() is None
    y.sum().backward()
    gc.collect()
    assert y is not None and saved_gone() is None


def test_a_failed_backward_leaves_nothing():
    class Fails(Cube):
        @staticmethod
        def backward(ctx, grad):
            Fails.context = weakref.ref(ctx)
            raise ValueError("no")

    x = leaf([1.0])
    with pytest.raises(ValueError, match="no"):
        Fails.apply(x).backward()
    gc.collect()
    assert Fails.context() is None


PROGRAM = """
import treadle as td


class Double(td.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


w = td.tensor([1.5], requires_grad=True)
y = Double.apply(w)
step = td.compile(lambda: Double.apply(w).sum().backward())
step()
"""


def test_nothing_is_left_when_the_program_ends():
    """nanobind says what is. The module has the class whose contexts its own tensors hold."""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(td.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stderr) == (0, "")


def test_threads():
    """The last tensor of a graph may go on any thread."""
    results = []

    def work(k):
        x = leaf([float(k)])
        for _ in range(50):
            y = Exp.apply(Cube.apply(x * 0.1))
            y.sum().backward()
        results.append((k, x.grad.item()))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for k, gradient in results:
        assert gradient == pytest.approx(50 * 0.1 * 3 * (0.1 * k) ** 2 * np.exp((0.1 * k) ** 3), rel=1e-9)
    assert len(results) == 4
