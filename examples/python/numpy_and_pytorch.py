"""Tensors beside NumPy and PyTorch: memory that is shared, functions that take either, and weights that go over."""

# %% NumPy to Treadle: the same memory, as long as either lives.
import numpy as np

import treadle as td

array = np.arange(6, dtype=np.float32).reshape(2, 3)
x = td.from_numpy(array)
array[0, 0] = 100
print("shared:", x.tolist())
copied = td.tensor(array)
array[0, 0] = 0
print("copied:", copied.tolist())

# %% Treadle to NumPy: tensors are arrays to NumPy's functions, views without copies.
y = td.tensor([[3.0, 4.0], [6.0, 8.0]])
print("norms by NumPy:", np.linalg.norm(y.numpy(), axis=1))
y.numpy()[0, 0] = 0
print("written through:", y.tolist())
print("mean by NumPy:", np.mean(np.asarray(y)))

# %% Strides, dtypes and steps are kept; what tensors do not have is said.
print("every second column:", td.from_numpy(array[:, ::2]).strides)
try:
    td.from_numpy(array[:, ::-1])
except ValueError as error:
    print("refused:", error)

# %% Gradients come back as arrays.
w = td.tensor(np.ones((2, 2), np.float32), requires_grad=True)
((y @ w) ** 2).sum().backward()
print("gradient:", w.grad.numpy())

# %% PyTorch, where it is installed: the same memory by DLPack.
try:
    import torch  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    torch = None  # type: ignore[assignment, unused-ignore]
    print("PyTorch is not installed here; the rest needs it")

if torch is not None:
    theirs = torch.arange(4.0)
    ours = td.from_dlpack(theirs)
    theirs[0] = 42
    print("PyTorch's memory:", ours.tolist())
    print("and back:", torch.from_dlpack(y))

# %% A network's weights: names and layouts are PyTorch's.
if torch is not None:
    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    same = td.nn.Sequential(td.nn.Linear(4, 8), td.nn.ReLU(), td.nn.Linear(8, 2))
    same.load_state_dict({name: td.tensor(value.numpy()) for name, value in network.state_dict().items()})
    batch = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    difference = np.abs(network(torch.from_numpy(batch)).detach().numpy() - same(td.tensor(batch)).detach().numpy()).max()
    print("largest difference of the two networks:", difference)
    assert difference < 1e-5
