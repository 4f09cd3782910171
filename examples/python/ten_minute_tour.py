"""A tour of Treadle's tensors, gradients, layers and compiled functions. Cells begin with `# %%`; python runs the whole."""

# %% Tensors hold numbers, on a device, with a dtype.
import numpy as np

import treadle as td

x = td.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print(x)
print("shape", x.shape, "dtype", x.dtype.name, "device", x.device)

# %% Arithmetic broadcasts, @ multiplies matrices, indices give views.
print(x * 10 - 1)
print("x @ x.T =", (x @ x.T).tolist())
print("second column", x[:, 1].tolist(), "largest", x.max().item())

# %% NumPy's arrays and tensors share memory: nothing is copied.
array = np.zeros(3, np.float32)
shared = td.from_numpy(array)
array[0] = 7
print("the tensor sees", shared.tolist())

# %% Gradients: what is computed from a tensor that requires one can be differentiated.
w = td.tensor([1.0, -2.0, 0.5], requires_grad=True)
loss = ((x @ w - 1) ** 2).mean()
loss.backward()
print("loss", round(loss.item(), 4), "gradient", [round(one, 4) for one in w.grad.tolist()])

# %% And differentiated again.
(slope,) = td.grad((w**3).sum(), w, create_graph=True)
(curvature,) = td.grad(slope.sum(), w)
print("d²(w³)/dw² = 6w:", curvature.tolist())


# %% Layers are modules; their parameters are found by name.
class Net(td.nn.Module):
    """Two layers, from two numbers to one."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = td.nn.Linear(2, 16)
        self.out = td.nn.Linear(16, 1)

    def forward(self, points: td.Tensor) -> td.Tensor:
        """Logits [N, 1] of points [N, 2]."""
        logits: td.Tensor = self.out(td.tanh(self.hidden(points)))
        return logits


td.manual_seed(0)
net = Net()
print(net)
print({name: parameter.shape for name, parameter in net.named_parameters()})

# %% Learning: is a point inside of a ring?
rng = np.random.default_rng(0)
points = rng.uniform(-1, 1, (512, 2)).astype(np.float32)
inside = (np.abs(np.hypot(*points.T) - 0.6) < 0.25).astype(np.float32)[:, None]
inputs, targets = td.tensor(points), td.tensor(inside)
optimizer = td.optim.Adam(net.parameters(), lr=0.02)


# %% A compiled function is recorded once, planned, and replayed without running Python.
@td.compile
def step(batch: td.Tensor, wanted: td.Tensor) -> td.Tensor:
    """One step of the optimizer; the loss before it."""
    optimizer.zero_grad()
    loss = td.binary_cross_entropy_with_logits(net(batch), wanted)
    loss.backward()
    optimizer.step()
    return loss


for epoch in range(401):
    loss = step(inputs, targets)
    if epoch % 100 == 0:
        print(f"step {epoch:3d}  loss {loss.item():.3f}")

# %% What it learned.
with td.no_grad():
    right = (((net(inputs) > 0).to(td.float32) - targets).abs().mean()).item()
print(f"{100 * (1 - right):.1f} % of the points are classified rightly")
print(step.programs()[0])
