"""What each function of the Python array API standard is asked, of treadle.array_api and of array-api-strict alike.

CASES[name] is a list of functions of (xp, a), where xp is a namespace and a(values, dtype) makes an array of it. The results of
both namespaces must have the same shapes and dtypes, and values that agree within `ULPS` (8 unless it says otherwise) of the
largest element of each result. LEFT_OUT[name] says why a name of the standard is not there.
"""

import collections

import numpy as np

CASES = collections.defaultdict(list)
ULPS = collections.defaultdict(lambda: 8)
NO_COMPLEX = "no dtype is complex"
LEFT_OUT = {
    "complex64": NO_COMPLEX,
    "complex128": NO_COMPLEX,
    "imag": NO_COMPLEX,
    "fft": f"extension; {NO_COMPLEX}",
    **{name: "tensors have one unsigned dtype, uint8" for name in ("uint16", "uint32", "uint64")},
}
# What is there and differs from what strict's cases say, within what the standard leaves open or asks for in vain.
NOTES = {
    "sum": "uint8 adds up in int64: there is no uint64",
    "prod": "uint8 multiplies in int64: there is no uint64",
    "cumulative_sum": "uint8 adds up in int64: there is no uint64",
    "cumulative_prod": "uint8 multiplies in int64: there is no uint64",
    "conj": "x itself",
    "real": "x itself",
    "eigvalsh": "no gradient",
    "eigh": "no gradient",
    "nextafter": "no gradient",
    "pinv": "no gradient",
    "qr": "no gradient",
    "svd": "no gradient",
    "svdvals": "no gradient",
    "matrix_norm": 'no gradient for ord 2, -2 and "nuc"',
    "asarray": "floats are float32 where no dtype is given",
}


def case(*names):
    def add(function):
        for name in names:
            CASES[name].append(function)
        return function

    return add


def draw(shape, seed=0, low=-3.0, high=3.0):
    return np.random.default_rng(seed).uniform(low, high, shape)


def whole(shape, seed=0, low=-5, high=6):
    return np.random.default_rng(seed).integers(low, high, shape)


FLOATS = ("float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-3, 3.5]


# --- elementwise ---


def unary(name, dtypes=FLOATS, low=-3.0, high=3.0, special=True):
    for dtype in dtypes:
        if dtype in FLOATS:
            CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(a(draw((3, 4), 1, low, high), t)))
            if special:
                CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(a(SPECIAL, t)))
        else:
            least = 0 if dtype in ("uint8", "bool") else -5
            CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(a(whole((3, 4), 1, least), t)))


for name in (
    "asin acos atan asinh acosh atanh sin cos tan sinh cosh tanh exp expm1 log log1p log2 log10 sqrt reciprocal"
).split():
    bounds = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-0.9, 0.9), "acosh": (1, 5), "log1p": (-0.9, 4)}
    low, high = bounds.get(name, (0.1, 5) if name.startswith("log") or name == "sqrt" else (-3, 3))
    unary(name, low=low, high=high)
for name in "ceil floor round trunc sign abs negative positive square isfinite isinf isnan conj real".split():
    unary(name, (*FLOATS, *(() if name in ("conj", "real") else SIGNED)))
unary("signbit")
for name in ("bitwise_invert",):
    unary(name, (*INTEGERS, "bool"))
unary("logical_not", ("bool",))


def binary(name, dtypes=FLOATS, low=-3.0, high=3.0, least=None, most=6, numbers=True):
    for dtype in dtypes:
        if dtype in FLOATS:
            CASES[name].append(
                lambda xp, a, n=name, t=dtype: getattr(xp, n)(a(draw((3, 4), 1, low, high), t), a(draw((4,), 2, low, high), t))
            )
            CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(a(SPECIAL, t), a(SPECIAL[::-1], t)))
            if numbers:
                CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(a(draw((5,), 1, low, high), t), 1.5))
                CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(2, a(draw((5,), 1, low, high), t)))
        else:
            bottom = least if least is not None else 0 if dtype in ("uint8", "bool") else -5
            values = lambda seed, t=dtype, b=bottom: whole((4,), seed, b, 2 if t == "bool" else most)  # noqa: E731
            CASES[name].append(lambda xp, a, n=name, t=dtype, v=values: getattr(xp, n)(a(np.stack([v(1)] * 2), t), a(v(2), t)))


ARITHMETIC = "add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal".split()
for name in ARITHMETIC:
    binary(name, (*FLOATS, *INTEGERS))
binary("equal", ("bool",)), binary("not_equal", ("bool",))
binary("divide")
binary("pow", (*FLOATS, *INTEGERS), low=0.1, least=0)
for name in ("floor_divide", "remainder"):
    binary(name, (*FLOATS, *INTEGERS), least=1)
CASES["floor_divide"].append(lambda xp, a: xp.floor_divide(a([7, -7, 7, -7], "int32"), a([2, 2, -2, -2], "int32")))
CASES["remainder"].append(lambda xp, a: xp.remainder(a([7, -7, 7, -7], "int32"), a([2, 2, -2, -2], "int32")))
for name in "atan2 copysign hypot logaddexp nextafter".split():
    binary(name)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary(name, (*INTEGERS, "bool"))
for name in ("bitwise_left_shift", "bitwise_right_shift"):
    binary(name, INTEGERS, least=0)
for name in ("logical_and", "logical_or", "logical_xor"):
    binary(name, ("bool",))
for dtype in (*FLOATS, *SIGNED):
    CASES["clip"] += [
        lambda xp, a, t=dtype: xp.clip(a(whole((3, 4)), t), -2, 3),
        lambda xp, a, t=dtype: xp.clip(a(whole((3, 4)), t), a(whole((4,), 3, -4, 0), t), a(whole((3, 1), 4, 0, 4), t)),
        lambda xp, a, t=dtype: xp.clip(a(whole((3, 4)), t), max=2),
        lambda xp, a, t=dtype: xp.clip(a(whole((3, 4)), t)),
    ]
for name, first, second in (("add", "int8", "int32"), ("multiply", "uint8", "int8"), ("subtract", "float32", "float64")):
    CASES[name].append(lambda xp, a, n=name, s=first, t=second: getattr(xp, n)(a(whole((4,), 1, 0), s), a(whole((4,), 2), t)))

# --- creation ---

for arguments in ((5,), (2, 7), (0, 10, 3), (5, 0, -2), (3, 3), (5, 2)):
    CASES["arange"].append(lambda xp, a, x=arguments: xp.arange(*x))
CASES["arange"].append(lambda xp, a: xp.arange(0.0, 1.0, 0.25, dtype=xp.float64))
for dtype in ("float32", "float64", "int32", "bool"):
    CASES["asarray"].append(lambda xp, a, t=dtype: xp.asarray([[0, 1], [2, 3]], dtype=getattr(xp, t)))
    CASES["empty"].append(
        lambda xp, a, t=dtype: xp.empty((2, 3), dtype=getattr(xp, t)) * 0 if t != "bool" else xp.zeros(1, dtype=xp.bool)
    )
    CASES["empty_like"].append(
        lambda xp, a, t=dtype: xp.zeros_like(xp.empty_like(a(whole((2, 3)), "float32"), dtype=getattr(xp, t)))
    )
    for name in ("zeros", "ones"):
        CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)((2, 0, 3), dtype=getattr(xp, t)))
        CASES[name].append(lambda xp, a, n=name, t=dtype: getattr(xp, n)(4, dtype=getattr(xp, t)))
        CASES[f"{name}_like"].append(lambda xp, a, n=name, t=dtype: getattr(xp, f"{n}_like")(a(whole((2, 3)), t)))
    CASES["full"].append(lambda xp, a, t=dtype: xp.full((2, 3), 1, dtype=getattr(xp, t)))
    CASES["full_like"].append(lambda xp, a, t=dtype: xp.full_like(a(whole((2, 3)), t), 1))
    CASES["eye"].append(lambda xp, a, t=dtype: xp.eye(3, 4, k=1, dtype=getattr(xp, t)))
    CASES["eye"].append(lambda xp, a, t=dtype: xp.eye(3, k=-2, dtype=getattr(xp, t)))
    for name in ("tril", "triu"):
        for k in (-1, 0, 2):
            CASES[name].append(lambda xp, a, n=name, t=dtype, k=k: getattr(xp, n)(a(whole((2, 3, 4)), t), k=k))
CASES["asarray"].append(lambda xp, a: xp.asarray([1, 2]))
CASES["asarray"].append(lambda xp, a: xp.asarray(True))
CASES["full"] += [lambda xp, a: xp.full((2,), 7), lambda xp, a: xp.full((), True)]
for dtype in FLOATS:
    CASES["linspace"] += [
        lambda xp, a, t=dtype: xp.linspace(0, 1, 7, dtype=getattr(xp, t)),
        lambda xp, a, t=dtype: xp.linspace(3.0, -1.0, 5, dtype=getattr(xp, t), endpoint=False),
        lambda xp, a, t=dtype: xp.linspace(0, 1, 0, dtype=getattr(xp, t)),
    ]
for indexing in ("xy", "ij"):
    CASES["meshgrid"].append(
        lambda xp, a, i=indexing: xp.meshgrid(a([1, 2], "int32"), a([3, 4, 5], "int32"), a([6], "int32"), indexing=i)
    )
CASES["from_dlpack"].append(lambda xp, a: xp.from_dlpack(a([1, 2], "float32")))

# --- dtypes ---

CASES["astype"] += [
    lambda xp, a: xp.astype(a([0.0, 1.7, -1.7], "float64"), xp.int32),
    lambda xp, a: xp.astype(a([0, 1, 2], "int64"), xp.bool),
    lambda xp, a: xp.astype(a([0, 1, 2], "int64"), xp.int64, copy=False),
]
CASES["can_cast"] += [
    lambda xp, a: [xp.can_cast(getattr(xp, s), getattr(xp, t)) for s in INTEGERS for t in INTEGERS],
    lambda xp, a: xp.can_cast(a([1], "float32"), xp.float64),
]
for dtype in FLOATS:
    CASES["finfo"].append(
        lambda xp, a, t=dtype: [
            float(getattr(xp.finfo(getattr(xp, t)), n)) for n in ("bits", "eps", "max", "min", "smallest_normal")
        ]
    )
for dtype in INTEGERS:
    CASES["iinfo"].append(lambda xp, a, t=dtype: [getattr(xp.iinfo(getattr(xp, t)), n) for n in ("bits", "max", "min")])
CASES["isdtype"].append(
    lambda xp, a: [
        xp.isdtype(getattr(xp, t), k)
        for t in (*FLOATS, *INTEGERS, "bool")
        for k in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric",
                  ("bool", "integral"), getattr(xp, "int8"))
    ]
)
CASES["result_type"].append(
    lambda xp, a: [str(xp.result_type(getattr(xp, s), getattr(xp, t))).rpartition(".")[2] for s in SIGNED for t in INTEGERS]
)
for dtype in (*FLOATS, *INTEGERS, "bool"):
    CASES[dtype].append(lambda xp, a, t=dtype: xp.zeros(2, dtype=getattr(xp, t)))
for name in ("e", "pi", "inf", "nan"):
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n))
CASES["newaxis"].append(lambda xp, a: a([1, 2], "int8")[xp.newaxis, :])
CASES["__array_namespace_info__"] += [
    lambda xp, a: sorted(set(xp.__array_namespace_info__().dtypes()) - {*LEFT_OUT}),
    lambda xp, a: sorted(xp.__array_namespace_info__().dtypes(kind="signed integer")),
    lambda xp, a: sorted(xp.__array_namespace_info__().capabilities()),
]

# --- manipulation ---


def of_cube(name, *calls):
    """Calls with an array of shape (2, 3, 4), of a floating and of an integer dtype."""
    for call in calls:
        for dtype in ("float32", "int16"):
            CASES[name].append(
                lambda xp, a, n=name, c=call, t=dtype: c(getattr(xp, n), a(np.arange(24).reshape(2, 3, 4) % 17, t))
            )


of_cube("broadcast_to", lambda f, x: f(x, (5, 2, 3, 4)), lambda f, x: f(x[:1, :, :1], (2, 3, 4)))
of_cube("broadcast_arrays", lambda f, x: f(x, x[:1, :, :1], x[0, 0, :]))
CASES["broadcast_shapes"].append(lambda xp, a: xp.broadcast_shapes((2, 1), (3,), (), (1, 1, 1)))
of_cube("concat", lambda f, x: f([x, x[:, :1, :]], axis=1), lambda f, x: f((x, x), axis=None), lambda f, x: f([x], axis=-1))
of_cube("expand_dims", lambda f, x: f(x, axis=0), lambda f, x: f(x, axis=-1), lambda f, x: f(x, axis=2))
of_cube("flip", lambda f, x: f(x), lambda f, x: f(x, axis=1), lambda f, x: f(x, axis=(0, -1)))
of_cube("moveaxis", lambda f, x: f(x, 0, -1), lambda f, x: f(x, (0, 1), (2, 0)))
of_cube("permute_dims", lambda f, x: f(x, (2, 0, 1)))
of_cube("repeat", lambda f, x: f(x, 2), lambda f, x: f(x, 3, axis=1))
CASES["repeat"].append(lambda xp, a: xp.repeat(a([[1, 2], [3, 4]], "int32"), a([1, 2], "int64"), axis=0))
of_cube("reshape", lambda f, x: f(x, (6, 4)), lambda f, x: f(x, (-1,)), lambda f, x: f(x, (4, 6), copy=True))
of_cube("roll", lambda f, x: f(x, 5), lambda f, x: f(x, -1, axis=1), lambda f, x: f(x, (1, 2), axis=(0, 2)))
of_cube("squeeze", lambda f, x: f(x[:1, :, :1], 0), lambda f, x: f(x[:1, :, :1], (0, 2)), lambda f, x: f(x[:1, :, :1], axis=-1))
of_cube("stack", lambda f, x: f([x, x + 1]), lambda f, x: f([x, x], axis=-1))
of_cube("tile", lambda f, x: f(x, (2,)), lambda f, x: f(x, (2, 1, 1, 3)), lambda f, x: f(x, (0, 1, 1)))
of_cube("unstack", lambda f, x: f(x), lambda f, x: f(x, axis=-1))

# --- statistics ---

AXES = ({}, {"axis": 1}, {"axis": (0, -1)}, {"axis": -1, "keepdims": True}, {"axis": ()})
for name in ("sum", "prod", "max", "min", "mean", "std", "var"):
    for options in AXES:
        for dtype in (*FLOATS, *(("int32",) if name in ("sum", "prod", "max", "min") else ())):
            CASES[name].append(
                lambda xp, a, n=name, o=options, t=dtype: getattr(xp, n)(
                    a(draw((2, 3, 4), 5) if t in FLOATS else whole((2, 3, 4)), t), **o
                )
            )
for name in ("sum", "prod"):
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n)(a(whole((3,)), "int8"), dtype=xp.float32))
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n)(a(np.zeros((2, 0)), "float32"), axis=1))
for name in ("std", "var"):
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n)(a(draw((2, 5)), "float64"), axis=1, correction=1))
for name in ("cumulative_sum", "cumulative_prod"):
    ULPS[name] = 16
    for options in ({"axis": 0}, {"axis": -1, "include_initial": True}, {"axis": 1}):
        for dtype in ("float32", "float64", "int32"):
            CASES[name].append(
                lambda xp, a, n=name, o=options, t=dtype: getattr(xp, n)(
                    a(draw((3, 4), 6) if t in FLOATS else whole((3, 4)), t), **o
                )
            )
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n)(a([1, 2, 3], "int8"), dtype=xp.int16))
for name in ("all", "any"):
    for options in AXES:
        CASES[name].append(lambda xp, a, n=name, o=options: getattr(xp, n)(a(whole((2, 3, 4), 7, 0, 4) > 0, "bool"), **o))
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n)(a(np.zeros((2, 0)), "bool"), axis=1))
    CASES[name].append(lambda xp, a, n=name: getattr(xp, n)(a([0.0, np.nan], "float32")))
of_cube("diff", lambda f, x: f(x), lambda f, x: f(x, axis=0), lambda f, x: f(x, axis=1, n=2))
of_cube("diff", lambda f, x: f(x, axis=1, prepend=x[:, :1, :], append=x[:, :2, :]))

# --- searching, sorting, sets ---

for name in ("argmax", "argmin"):
    for options in ({}, {"axis": 1}, {"axis": -1, "keepdims": True}):
        CASES[name].append(lambda xp, a, n=name, o=options: getattr(xp, n)(a(whole((2, 3, 4), 8), "float32"), **o))
        CASES[name].append(lambda xp, a, n=name, o=options: getattr(xp, n)(a(whole((2, 3, 4), 9), "int16"), **o))
for options in AXES:
    CASES["count_nonzero"].append(lambda xp, a, o=options: xp.count_nonzero(a(whole((2, 3, 4), 7, 0, 3), "int32"), **o))
CASES["nonzero"] += [
    lambda xp, a: xp.nonzero(a(whole((3, 4), 7, 0, 2), "int32")),
    lambda xp, a: xp.nonzero(a(whole((5,), 7, 0, 2), "bool")),
]
for side in ("left", "right"):
    CASES["searchsorted"].append(
        lambda xp, a, s=side: xp.searchsorted(
            a([1.0, 2.0, 2.0, 4.0], "float64"), a([[0.0, 2.0], [3.0, 9.0]], "float64"), side=s
        )
    )
CASES["searchsorted"].append(
    lambda xp, a: xp.searchsorted(a([4, 1, 2], "int64"), a([2, 3], "int64"), sorter=a([1, 2, 0], "int64"))
)
CASES["where"] += [
    lambda xp, a: xp.where(a([True, False, True], "bool"), a([[1.0], [2.0]], "float32"), a([5.0, 6.0, 7.0], "float32")),
    lambda xp, a: xp.where(a([True, False], "bool"), a([1, 2], "int32"), 3),
    lambda xp, a: xp.where(a([True, False], "bool"), a([1, 2], "int8"), a([300, 400], "int16")),
]
of_cube("take", *(lambda f, x, k=k: f(x, k(x), axis=1) for k in (lambda x: indices_like(x, [2, 0, 0, 1]),)))
CASES["take"].append(lambda xp, a: xp.take(a([5, 6, 7], "int32"), a([2, -1, 0], "int64")))
CASES["take_along_axis"] += [
    lambda xp, a: xp.take_along_axis(a(whole((3, 4)), "float32"), a([[0, 1, 2, 0], [2, 1, 0, 1]], "int64"), axis=0),
    lambda xp, a: xp.take_along_axis(a(whole((3, 4)), "int32"), a([[3], [0], [1]], "int64"), axis=-1),
]
for name in ("sort", "argsort"):
    for options in ({}, {"axis": 0}, {"descending": True}, {"axis": 0, "descending": True}):
        for dtype in ("float32", "int8"):
            CASES[name].append(lambda xp, a, n=name, o=options, t=dtype: getattr(xp, n)(a(whole((5, 6), 10, -2, 3), t), **o))
for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    CASES[name] += [
        lambda xp, a, n=name: getattr(xp, n)(a(whole((3, 4), 11, 0, 4), "int32")),
        lambda xp, a, n=name: getattr(xp, n)(a([2.0, np.nan, 1.0, np.nan, 2.0, -1.0], "float32")),
    ]


def indices_like(x, values):
    """The values as an array of x's namespace."""
    return x.__array_namespace__().asarray(values)


CASES["isin"] += [
    lambda xp, a: xp.isin(a(whole((3, 4)), "int32"), a([1, -2, 9], "int32")),
]

# --- linear algebra ---

MATRIX = draw((2, 3, 3), 12)
SYMMETRIC = MATRIX @ MATRIX.transpose(0, 2, 1) + 3 * np.eye(3)


def algebra(name, *calls, dtypes=FLOATS, ulps=256):
    """Calls of (function, matrices [2,3,3], symmetric positive definite ones, [2,3,4], xp)."""
    ULPS[f"linalg.{name}"] = ulps
    for call in calls:
        for dtype in dtypes:
            CASES[f"linalg.{name}"].append(
                lambda xp, a, n=name, c=call, t=dtype: c(
                    getattr(xp.linalg, n), a(MATRIX, t), a(SYMMETRIC, t), a(draw((2, 3, 4), 13), t), xp
                )
            )


algebra("cholesky", lambda f, m, s, w, xp: f(s), lambda f, m, s, w, xp: f(s, upper=True))
algebra("cross", lambda f, m, s, w, xp: f(m, s), lambda f, m, s, w, xp: f(m, s, axis=-2))
algebra("det", lambda f, m, s, w, xp: f(m))
algebra("diagonal", *(lambda f, m, s, w, xp, k=k: f(w, offset=k) for k in (-2, 0, 1, 3)))
algebra("eigh", lambda f, m, s, w, xp: f(s).eigenvalues, lambda f, m, s, w, xp: reassembled(f(s), xp))
algebra("eigvalsh", lambda f, m, s, w, xp: f(s))
algebra("inv", lambda f, m, s, w, xp: f(m))
algebra("matmul", lambda f, m, s, w, xp: f(m, w))
algebra(
    "matrix_norm", *(lambda f, m, s, w, xp, o=o: f(w, ord=o) for o in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")))
)
algebra("matrix_norm", lambda f, m, s, w, xp: f(w, keepdims=True), lambda f, m, s, w, xp: f(w, keepdims=True, ord=2))
algebra("matrix_power", *(lambda f, m, s, w, xp, n=n: f(m, n) for n in (-2, -1, 0, 1, 2, 5)), ulps=4096)
algebra(
    "matrix_rank",
    lambda f, m, s, w, xp: f(w),
    lambda f, m, s, w, xp: f(xp.concat([w, w], axis=-2)),
    lambda f, m, s, w, xp: f(w * 0),
)
algebra("matrix_transpose", lambda f, m, s, w, xp: f(w))
algebra("outer", lambda f, m, s, w, xp: f(m[0, 0, :], w[0, 0, :]))
algebra("pinv", lambda f, m, s, w, xp: f(w), lambda f, m, s, w, xp: f(w, rtol=0.1))
algebra("qr", lambda f, m, s, w, xp: product(f(w)), lambda f, m, s, w, xp: [part.shape for part in f(w, mode="complete")])
algebra("slogdet", lambda f, m, s, w, xp: f(m))
algebra("solve", lambda f, m, s, w, xp: f(m, w), lambda f, m, s, w, xp: f(m, w[0, :, 0]))
algebra("svd", lambda f, m, s, w, xp: f(w).S, lambda f, m, s, w, xp: reassembled_svd(f(w, full_matrices=False)))
algebra("svd", lambda f, m, s, w, xp: [part.shape for part in f(w)])
algebra("svdvals", lambda f, m, s, w, xp: f(w))
algebra("tensordot", lambda f, m, s, w, xp: f(m, w[0, ...], axes=1), lambda f, m, s, w, xp: f(m, w, axes=((0, 1), (0, 1))))
algebra("tensordot", lambda f, m, s, w, xp: f(m, w, axes=0))
algebra("trace", lambda f, m, s, w, xp: f(w), lambda f, m, s, w, xp: f(w, offset=1))
algebra("vecdot", lambda f, m, s, w, xp: f(m, s), lambda f, m, s, w, xp: f(m, s[:, :1, :]))
algebra("vector_norm", *(lambda f, m, s, w, xp, o=o: f(w, ord=o, axis=1) for o in (0, 1, 2, 3, float("inf"), -float("inf"))))
algebra("vector_norm", lambda f, m, s, w, xp: f(w), lambda f, m, s, w, xp: f(w, axis=(0, 2), keepdims=True))
for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
    CASES[name] += [lambda xp, a, c=c, n=name: c(_with(xp, n), a) for c in CASES[f"linalg.{name}"]]
    ULPS[name] = 256
CASES["matmul"] += [
    lambda xp, a: xp.matmul(a(whole((2, 3)), "int32"), a(whole((3,)), "int32")),
    lambda xp, a: xp.matmul(a(whole((3,)), "float32"), a(whole((3, 2)), "float32")),
]
CASES["linalg"].append(lambda xp, a: hasattr(xp.linalg, "svd"))
CASES["__array_api_version__"].append(lambda xp, a: isinstance(xp.__array_api_version__, str))


def _with(xp, name):
    """A namespace whose linalg has the function of the main one."""
    linalg = type("linalg", (), {name: staticmethod(getattr(xp, name))})
    return type("main", (), {"linalg": linalg})


def product(found):
    q, r = found
    return q @ r


def reassembled(found, xp):
    values, vectors = found
    return (vectors * values[:, None, :]) @ xp.matrix_transpose(vectors)


def reassembled_svd(found):
    u, s, vh = found
    return (u * s[:, None, :]) @ vh
